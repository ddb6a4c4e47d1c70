package find

// Term is a word of an instruction, as Words gives it, with other words that say the same.
type Term struct {
	Word string
	// Like are words of the same meaning, each with what it counts for, from 0 to 1.
	Like []Like
	// Weight is what the term counts for beside the others.
	Weight float64
	// Aside marks a word that speaks for the entries that have it, and against none that does not.
	Aside bool
}

// Like is a word that says nearly what another one does.
type Like struct {
	Word   string
	Weight float64
}

// Words cuts a text into the words that are compared, those that say nothing left out.
func Words(text string) []string { return queryWords(text) }

// Fit says of each entry, server after server, how much of what the terms say it has, from 0 to 1, each term by how
// rare it is. A word that no entry has counts as a rare one, so that what is about something else fits nothing.
func (x *Index) Fit(terms []Term) []float64 {
	fit := make([]float64, len(x.docs))
	best := make([]float64, len(x.docs)) // of one term
	most := 0.0
	for _, term := range terms {
		worth := 0.0 // the most that an entry can have of the term
		for _, r := range x.meanings(term) {
			rarity := x.rarity(r.number)
			worth = max(worth, r.weight*rarity)
			x.each(r.number, func(p posting) { best[p.doc] = max(best[p.doc], r.score(rarity, p)) })
		}
		switch {
		case worth > 0 && !term.Aside:
			most += term.Weight * worth
		case !term.Aside:
			most += term.Weight * x.unknown()
		}
		for d := range best {
			fit[d] += best[d]
			best[d] = 0
		}
	}
	for d := range fit {
		if fit[d] = fit[d] / max(most, x.unknown()); fit[d] > 1 {
			fit[d] = 1
		}
	}
	return fit
}

// meanings gives the words of the index that a term may stand for.
func (x *Index) meanings(term Term) []reading {
	list := x.readings(term.Word)
	for _, like := range term.Like {
		if n, ok := x.words.find([]byte(like.Word)); ok {
			list = append(list, reading{n, like.Weight})
		}
	}
	return list
}

// Knows reports whether an entry has a word.
func (x *Index) Knows(word string) bool {
	_, ok := x.words.find([]byte(word))
	return ok
}
