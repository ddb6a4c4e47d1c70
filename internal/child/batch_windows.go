package child

import (
	"errors"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// isBatch reports whether a file is a batch file, as npx.cmd is. The system takes no notice of blanks and dots at the end.
func isBatch(path string) bool {
	ext := filepath.Ext(strings.TrimRight(path, ". "))
	return strings.EqualFold(ext, ".cmd") || strings.EqualFold(ext, ".bat")
}

// batchLine returns the program that runs a batch file, and its command line. The system would find that program too, but
// hand it the arguments as if it took them as programs do: "a=1&b=2" would run b, and "%PATH%" be its value.
func batchLine(path string, args []string) (program, line string, err error) {
	system, err := windows.GetSystemDirectory()
	if err != nil {
		return "", "", err
	}
	var b strings.Builder
	b.WriteString(`cmd.exe /e:on /v:off /d /s /c ""`) // with extensions, without ! and AutoRun
	b.WriteString(strings.ReplaceAll(path, "%", onePercent))
	b.WriteByte('"')
	for _, arg := range args {
		if strings.ContainsAny(arg, "\r\n") {
			return "", "", errors.New("a batch file cannot be given an argument with a line break")
		}
		b.WriteByte(' ')
		writeBatchArgument(&b, arg)
	}
	b.WriteByte('"')
	return filepath.Join(system, "cmd.exe"), b.String(), nil
}

// onePercent is what a percent sign is written as: a variable of which no character is taken parts it from what follows,
// which would otherwise be the name of one.
const onePercent = "%%cd:~,%"

// writeBatchArgument writes one argument so that both the interpreter and a program that gets it from the batch file as
// "%*" read it as it is. Between quotation marks nothing but a percent sign means anything to the former.
func writeBatchArgument(b *strings.Builder, arg string) {
	isPlain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(`-_./:\@+#$?*`, r)
	}
	if arg != "" && !strings.HasSuffix(arg, `\`) && strings.IndexFunc(arg, func(r rune) bool { return !isPlain(r) }) < 0 {
		b.WriteString(arg)
		return
	}
	b.WriteByte('"')
	backslashes := 0 // before this character; those before a quotation mark are written twice
	for _, r := range arg {
		switch r {
		case '\\':
			backslashes++
		case '"':
			b.WriteString(strings.Repeat(`\`, backslashes) + `"`)
			backslashes = 0
		default:
			backslashes = 0
		}
		if r == '%' {
			b.WriteString(onePercent)
		} else {
			b.WriteRune(r)
		}
	}
	b.WriteString(strings.Repeat(`\`, backslashes) + `"`)
}
