//go:build fix_json

package main

import (
	"encoding/json"
	"strings"
)

func parse(body []byte) (message, error) {
	var doc struct {
		ID      string
		Sender  string
		Subject string
		Size    int
		Urgent  bool
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return message{}, err
	}
	return message{id: doc.ID, sender: doc.Sender, subject: doc.Subject, size: doc.Size, urgent: doc.Urgent, words: strings.Fields(doc.Subject)}, nil
}
