package find

import "strings"

// synonyms are words that authors of tools use for the same thing, as they are compared.
func synonyms() map[string][]string {
	table := make(map[string][]string)
	for _, group := range [...]string{
		"issue ticket bug",
		"repository repo",
		"fetch get retrieve download read",
		"search find query lookup",
		"create make add new",
		"delete remove",
		"update edit modify change",
		"folder directory",
		"picture image photo",
		"chart graph plot diagram",
		"execute run",
		"website webpage url",
		"movie film",
		"mail email",
		"message chat",
		"db database",
		"shell terminal command",
		"spreadsheet excel",
		"slide powerpoint presentation",
		"save write store",
		"convert transform",
		"pr pull",
	} {
		words := strings.Fields(group)
		for i, w := range words {
			words[i] = string(stem([]byte(w)))
		}
		for _, a := range words {
			for _, b := range words {
				if a != b {
					table[a] = append(table[a], b)
				}
			}
		}
	}
	return table
}
