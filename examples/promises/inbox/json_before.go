//go:build !fix_json

package main

import (
	"encoding/json"
	"strings"
)

func parse(body []byte) (message, error) {
	var doc map[string]any
	if err := json.Unmarshal(body, &doc); err != nil {
		return message{}, err
	}
	id, _ := doc["id"].(string)
	sender, _ := doc["sender"].(string)
	subject, _ := doc["subject"].(string)
	size, _ := doc["size"].(float64)
	urgent, _ := doc["urgent"].(bool)
	return message{id: id, sender: sender, subject: subject, size: int(size), urgent: urgent, words: strings.Fields(subject)}, nil
}
