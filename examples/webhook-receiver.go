// Receives the messages of a webhook: the same as webhook-receiver.ts, in Go.
//
// It verifies each signature with the library of Standard Webhooks, and handles each change once: the
// service repeats a message until it gets a 2xx response, so a change can come again.
//
//	go mod init receiver
//	go get github.com/standard-webhooks/standard-webhooks/libraries@v0.0.1
//	WEBHOOK_SECRETS=whsec_... go run webhook-receiver.go
//
// Environment: WEBHOOK_SECRETS, one secret, or two with a comma during a rotation; PORT; and SEQ_FILE,
// where it stores the number of the last change. A program with a database stores this number in the
// transaction in which it handles the change.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// The service sends at most 20 kB.
const bodyBytesMax = 100_000

type message struct {
	Data struct {
		// Messages of other types have no changes.
		Changes []change `json:"changes"`
	} `json:"data"`
}

type change struct {
	Seq   int64 `json:"seq"`
	PetID int64 `json:"petId"`
	After *struct {
		Quantity int64 `json:"quantity"`
	} `json:"after"`
}

type receiver struct {
	webhooks []*standardwebhooks.Webhook
	file     string
	// One message at a time, so that changes are handled in order.
	mutex   sync.Mutex
	lastSeq int64
}

func (r *receiver) verify(body []byte, header http.Header) (err error) {
	for _, webhook := range r.webhooks {
		if err = webhook.Verify(body, header); err == nil {
			return nil
		}
	}
	return err
}

// Renaming is atomic, so a crash leaves the old number or the new one.
func (r *receiver) store(seq int64) error {
	file, err := os.Create(r.file + ".new")
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err = file.WriteString(strconv.FormatInt(seq, 10)); err != nil {
		return err
	}
	if err = file.Sync(); err != nil {
		return err
	}
	if err = os.Rename(r.file+".new", r.file); err != nil {
		return err
	}
	r.lastSeq = seq
	return nil
}

func handle(one change) {
	if one.After == nil {
		fmt.Printf("change %d: pet %d, removed\n", one.Seq, one.PetID)
		return
	}
	fmt.Printf("change %d: pet %d, %d\n", one.Seq, one.PetID, one.After.Quantity)
}

// Returns the status of the response. The service sends the message again unless it is 2xx.
func (r *receiver) receive(request *http.Request) int {
	body, err := io.ReadAll(io.LimitReader(request.Body, bodyBytesMax+1))
	if err != nil {
		return http.StatusBadRequest
	}
	if len(body) > bodyBytesMax {
		return http.StatusRequestEntityTooLarge
	}
	var received message
	if err = r.verify(body, request.Header); err == nil {
		err = json.Unmarshal(body, &received)
	}
	if err != nil {
		fmt.Println("rejected:", err)
		return http.StatusBadRequest
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, one := range received.Data.Changes {
		if one.Seq <= r.lastSeq {
			continue
		}
		handle(one)
		if err = r.store(one.Seq); err != nil {
			fmt.Println(err)
			return http.StatusInternalServerError
		}
	}
	return http.StatusNoContent
}

func (r *receiver) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	response.WriteHeader(r.receive(request))
}

func environment(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}

func main() {
	r := &receiver{file: environment("SEQ_FILE", "webhook-seq")}
	for _, secret := range strings.Split(os.Getenv("WEBHOOK_SECRETS"), ",") {
		webhook, err := standardwebhooks.NewWebhook(secret)
		if err != nil || secret == "" {
			log.Fatal("WEBHOOK_SECRETS must contain one or two secrets")
		}
		r.webhooks = append(r.webhooks, webhook)
	}
	if stored, err := os.ReadFile(r.file); err == nil {
		if r.lastSeq, err = strconv.ParseInt(string(stored), 10, 64); err != nil {
			log.Fatal(err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+environment("PORT", "9000"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s/\n", listener.Addr())
	server := &http.Server{Handler: r, ReadTimeout: 10 * time.Second}
	log.Fatal(server.Serve(listener))
}
