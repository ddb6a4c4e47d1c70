package runner

import (
	"path/filepath"
	"runtime"
	"strings"
)

// home is the folder that caches are in, by the environment of the runner.
func home(env variables) string {
	if runtime.GOOS == "windows" {
		return env.of("USERPROFILE")
	}
	return env.of("HOME")
}

// cacheHome is where programs that follow the XDG base directories keep what they can fetch again.
func cacheHome(env variables) string {
	return under(env.of("XDG_CACHE_HOME"), home(env), ".cache")
}

// under is dir if that is set, else a folder below base; "" if neither is known.
func under(dir, base string, parts ...string) string {
	switch {
	case dir != "":
		return dir
	case base == "":
		return ""
	}
	return filepath.Join(append([]string{base}, parts...)...)
}

// npxFolder is where npx installs packages, each in a folder of its own.
func npxFolder(env variables) string {
	for _, name := range []string{"npm_config_cache", "NPM_CONFIG_CACHE"} {
		if dir := env.of(name); dir != "" {
			return filepath.Join(dir, "_npx")
		}
	}
	if runtime.GOOS == "windows" {
		return under("", env.of("LOCALAPPDATA"), "npm-cache", "_npx")
	}
	return under("", home(env), ".npm", "_npx")
}

func npmCaches(env variables) []string { return []string{npxFolder(env)} }

func pnpmCaches(env variables) []string {
	data := under(env.of("XDG_DATA_HOME"), home(env), ".local", "share")
	return []string{
		under("", cacheHome(env), "pnpm", "dlx"), under("", data, "pnpm", "store"),
		under("", home(env), ".yarn", "berry", "cache"), under("", home(env), "Library", "pnpm", "store"),
	}
}

func bunCaches(env variables) []string {
	return []string{under(env.of("BUN_INSTALL_CACHE_DIR"), home(env), ".bun", "install", "cache")}
}

func uvCaches(env variables) []string {
	if runtime.GOOS == "windows" {
		return []string{under(env.of("UV_CACHE_DIR"), env.of("LOCALAPPDATA"), "uv", "cache")}
	}
	return []string{under(env.of("UV_CACHE_DIR"), cacheHome(env), "uv")}
}

func pipxCaches(env variables) []string {
	return []string{under(env.of("PIPX_HOME"), home(env), ".local", "share", "pipx"), under("", cacheHome(env), "pipx"), under("", home(env), ".local", "pipx")}
}

func goCaches(env variables) []string {
	path, _, _ := strings.Cut(under(env.of("GOPATH"), home(env), "go"), string(filepath.ListSeparator))
	build := under(env.of("GOCACHE"), cacheHome(env), "go-build")
	if runtime.GOOS == "darwin" && env.of("GOCACHE") == "" {
		build = under("", home(env), "Library", "Caches", "go-build")
	}
	return []string{under(env.of("GOMODCACHE"), path, "pkg", "mod"), build}
}
