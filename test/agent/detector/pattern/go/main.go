// Writes what Go's regexp package finds for each pattern in each text: expected.golden.json.
//
//	go run test/agent/detector/pattern/go/main.go test/agent/detector/pattern/go
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Result of one pattern: an error of the parser, or what was found in each text, as offsets in UTF-16 code units.
type result struct {
	Pattern string  `json:"pattern"`
	Error   string  `json:"error,omitempty"`
	Found   [][]int `json:"found,omitempty"`
}

type random struct {
	Pattern string   `json:"pattern"`
	Error   string   `json:"error,omitempty"`
	Texts   []string `json:"texts"`
	Found   [][]int  `json:"found,omitempty"`
}

func main() {
	folder := os.Args[1]
	var patterns, texts []string
	read(filepath.Join(folder, "patterns.json"), &patterns)
	read(filepath.Join(folder, "texts.json"), &texts)
	var lines []string
	for _, pattern := range patterns {
		r := result{Pattern: pattern}
		r.Found, r.Error = find(pattern, texts)
		lines = append(lines, line(r))
	}
	rng := rand.New(rand.NewSource(20300101))
	var more []string
	for i := 0; i < 1500; i++ {
		r := random{Pattern: randomPattern(rng), Texts: []string{randomText(rng), randomText(rng), randomText(rng)}}
		r.Found, r.Error = find(r.Pattern, r.Texts)
		more = append(more, line(r))
	}
	out := "{\"listed\": [\n" + strings.Join(lines, ",\n") + "\n], \"random\": [\n" + strings.Join(more, ",\n") + "\n]}\n"
	if err := os.WriteFile(filepath.Join(folder, "expected.golden.json"), []byte(out), 0o644); err != nil {
		panic(err)
	}
}

func find(pattern string, texts []string) ([][]int, string) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err.Error()
	}
	var found [][]int
	for _, text := range texts {
		slots := []int{}
		for _, at := range re.FindStringSubmatchIndex(text) {
			slots = append(slots, utf16Offset(text, at))
		}
		found = append(found, slots)
	}
	return found, ""
}

func utf16Offset(text string, at int) int {
	if at < 0 {
		return -1
	}
	n := 0
	for _, r := range text[:at] {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

var tokens = strings.Split("a b c . a b é 😀 \\b \\B ^ $ \\A \\z * + ? *? +? ?? {2} {0,2} {1,} {2}? | | ( ( (?: (?i: (?s) (?m) (?i) (?U) ) ) ) [ab] [^a] [a-c] \\w \\W \\s \\d \\n", " ")

func randomPattern(rng *rand.Rand) string {
	var b strings.Builder
	open := 0
	for n := 1 + rng.Intn(10); n > 0; n-- {
		token := tokens[rng.Intn(len(tokens))]
		if token == ")" {
			if open == 0 {
				continue
			}
			open--
		}
		if strings.HasPrefix(token, "(") && !strings.HasSuffix(token, ")") {
			open++
		}
		b.WriteString(token)
	}
	return b.String() + strings.Repeat(")", open)
}

func randomText(rng *rand.Rand) string {
	chars := []rune("aabbcABé😀 \n1")
	var b strings.Builder
	for n := rng.Intn(9); n > 0; n-- {
		b.WriteRune(chars[rng.Intn(len(chars))])
	}
	return b.String()
}

func line(value any) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	if !utf8.ValidString(b.String()) {
		panic("not UTF-8")
	}
	return strings.TrimSpace(b.String())
}

func read(file string, into any) {
	content, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(content, into)
	}
	if err != nil {
		panic(fmt.Sprintf("%s: %v", file, err))
	}
}
