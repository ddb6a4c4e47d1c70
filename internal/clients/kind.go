package clients

import (
	"strings"
	"unicode"
)

// Kind is what servers are for; servers of one kind make a toolbox.
type Kind struct {
	Name        string
	Description string
	words       string // in the names, packages and addresses of its servers
}

// kinds are looked through from the first.
func kinds() []Kind {
	return []Kind{
		{"code", "Repositories, issues, reviews and builds", "git github gitlab bitbucket sentry circleci jenkins eslint sonarqube semgrep codacy gitea devops"},
		{"data", "Query databases and warehouses", "postgres postgresql sqlite mysql mariadb mongo mongodb redis supabase bigquery snowflake clickhouse sql database duckdb neon dbhub elasticsearch neo4j qdrant"},
		{"docs", "Look up documentation of libraries and products", "context7 docs documentation deepwiki microsoftdocs howtocook mui"},
		{"web", "Search the web, read pages and drive a browser", "fetch brave search tavily exa firecrawl playwright puppeteer browser chrome perplexity serper crawl scrape web"},
		{"work", "Messages, notes, tickets, mail and designs", "slack notion linear jira atlassian confluence asana trello gmail calendar mail figma hubspot discord teams obsidian zapier intercom"},
		{"cloud", "Clouds, clusters and what runs on them", "aws azure gcp kubernetes k8s cloudflare vercel terraform netlify heroku grafana datadog portainer docker"},
		{"memory", "Remember things and think step by step", "memory sequential thinking mem0 knowledge"},
		{"files", "Read, search and edit files and documents", "filesystem files file drive dropbox s3 pdf excel word documents markitdown"},
	}
}

// KindOf tells what a server is for by its name, and else by what is run or reached.
func KindOf(name string, s Server) Kind {
	reached := s.URL
	for _, arg := range s.Args {
		if strings.ContainsAny(arg, "/@") || !strings.HasPrefix(arg, "-") {
			reached += " " + arg
		}
	}
	for _, text := range []string{name, s.Command, reached} {
		words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		for _, kind := range kinds() {
			for _, word := range words {
				if text == s.Command && word == "docker" { // it runs any server
					continue
				}
				if strings.Contains(" "+kind.words+" ", " "+word+" ") {
					return kind
				}
			}
		}
	}
	return Kind{Name: "other", Description: "Other tools"}
}
