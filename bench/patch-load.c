/* A load generator for PATCH. It shares the processor with the servers that it measures, so it is
   written in C, which takes less CPU time per request than JavaScript. It sends the same requests
   and makes the same checks as PatchScript in scripts.ts.

   Reads one line from standard input; main has the fields. Prints the result as one line of JSON.
   At the first wrong response it prints an error and ends with exit code 1. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <math.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define RESPONSE_BYTES_MAX 8192
#define EVENTS_MAX 256
/* Buckets of latencies are at most 3 % wide, as in histogram.ts. */
#define STEPS_PER_DOUBLING 32
#define BUCKETS (STEPS_PER_DOUBLING * 40)

struct connection {
  int socket, pet_id_first, pet_id, quantity;
  double sent_at_ms;
  size_t received;
  char response[RESPONSE_BYTES_MAX + 1];
};

static int connection_count, entries, quantity_min, quantity_max, quantity_shift, is_random;
static struct sockaddr_in address = {.sin_family = AF_INET};
static int epoll;
static char headers[1024];
static unsigned responses, buckets[BUCKETS];
static double latency_max_ms;

static double read_ms(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static void add_latency(double milliseconds) {
  double nanoseconds = fmax(1, milliseconds * 1e6);
  buckets[(int)fmin(BUCKETS - 1, log2(nanoseconds) * STEPS_PER_DOUBLING)]++;
  latency_max_ms = fmax(latency_max_ms, milliseconds);
  responses++;
}

/* Returns the upper edge of the bucket that contains this share of the responses. */
static double percentile_ms(double share) {
  double left = responses * share;
  int bucket = 0;
  while (bucket < BUCKETS && (left -= buckets[bucket]) > 0) bucket++;
  return fmin(latency_max_ms, exp2((bucket + 1.0) / STEPS_PER_DOUBLING) / 1e6);
}

/* Takes the pets of a connection in turn or at random, and the quantities in turn. */
static void send_next(struct connection *connection) {
  int first = connection->pet_id_first, pets = 1 + (entries - first) / connection_count;
  connection->pet_id += connection_count;
  if (is_random) connection->pet_id = first + connection_count * (int)(random() % pets);
  else if (connection->pet_id > entries) connection->pet_id = first;
  if (++connection->quantity > quantity_max) connection->quantity = quantity_min;
  char body[64], request[sizeof headers + 256];
  int body_bytes = snprintf(body, sizeof body, "{\"quantity\":%d}", connection->quantity);
  int bytes = snprintf(request, sizeof request,
                       "PATCH /v1/inventory/%d HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n%s",
                       connection->pet_id, headers, body_bytes, body);
  connection->received = 0;
  connection->sent_at_ms = read_ms(CLOCK_MONOTONIC);
  if (send(connection->socket, request, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) != bytes)
    err(1, "A request was not sent completely");
}

/* Returns the number in a header, or -1 if there is none. An empty line ends the headers. */
static long find_number(const char *line, const char *name) {
  size_t length = strlen(name);
  while (*(line = strstr(line, "\r\n") + 2) != '\r') {
    if (strncasecmp(line, name, length) != 0 || strncmp(line + length, ": ", 2) != 0) continue;
    const char *value = line + length + 2;
    size_t digits = strspn(value, "0123456789");
    return digits > 0 && value[digits] == '\r' ? atol(value) : -1;
  }
  return -1;
}

/* Compares the digits, so that a rounded number is detected. */
static bool has_number(const char *body, const char *field, int value) {
  char member[64];
  int length = snprintf(member, sizeof member, "\"%s\":%d", field, value);
  const char *found = strstr(body, member);
  return found != NULL && (found[length] == ',' || found[length] == '}');
}

/* Returns whether the response is complete. Ends the program if it is wrong. */
static bool check_response(const struct connection *connection) {
  static const char *const names[] = {"x-ratelimit-limit", "x-ratelimit-remaining",
                                      "x-ratelimit-reset", "content-length"};
  const char *response = connection->response;
  const char *head_end = strstr(response, "\r\n\r\n");
  if (head_end == NULL) return false;
  if (strncmp(response, "HTTP/1.1 200 ", 13) != 0) errx(1, "Not a 200: %s", response);
  long body_bytes = 0;
  for (int index = 0; index < 4; index++) {
    body_bytes = find_number(response, names[index]);
    if (body_bytes < 0) errx(1, "Missing or invalid %s: %s", names[index], response);
  }
  long received = response + connection->received - (head_end + 4);
  if (received < body_bytes) return false;
  if (received > body_bytes) errx(1, "A response is longer than its Content-Length: %s", response);
  if (!has_number(head_end, "petId", connection->pet_id) ||
      !has_number(head_end, "quantity", connection->quantity))
    errx(1, "Pet %d was set to %d, but the response is %s", connection->pet_id,
         connection->quantity, response);
  return true;
}

/* Reads what has arrived. Returns whether the response is complete. */
static bool receive(struct connection *connection) {
  char *end = connection->response + connection->received;
  ssize_t bytes = recv(connection->socket, end, RESPONSE_BYTES_MAX - connection->received, 0);
  double received_at_ms = read_ms(CLOCK_MONOTONIC);
  if (bytes < 0) err(1, "A connection failed");
  end[bytes] = '\0';
  if (bytes == 0) errx(1, "The server closed a connection. Response: %s", connection->response);
  connection->received += bytes;
  if (connection->received == RESPONSE_BYTES_MAX)
    errx(1, "A response has %d bytes or more: %s", RESPONSE_BYTES_MAX, connection->response);
  if (!check_response(connection)) return false;
  add_latency(received_at_ms - connection->sent_at_ms);
  return true;
}

/* Starts with the same pets and quantities as scriptsFor in work.ts, which has the reasons. */
static void open_connection(struct connection *connection, int index) {
  int quantities = quantity_max - quantity_min + 1, one = 1;
  connection->pet_id_first = 1 + index % entries;
  connection->pet_id = connection->pet_id_first - connection_count;
  connection->quantity = quantity_min + (quantity_shift + index * 37) % quantities;
  int fd = connection->socket = socket(AF_INET, SOCK_STREAM, 0);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
  if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0 ||
      epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
    err(1, "A connection was not opened");
}

/* Sends on every connection until the end, then waits for the responses that are still missing. */
static void run(struct connection *connections, double ends_at_ms) {
  struct epoll_event events[EVENTS_MAX];
  for (int index = 0; index < connection_count; index++) send_next(&connections[index]);
  for (int busy = connection_count; busy > 0;) {
    int ready = epoll_wait(epoll, events, EVENTS_MAX, -1);
    if (ready < 0 && errno != EINTR) err(1, "Waiting for responses failed");
    for (int index = 0; index < ready; index++) {
      struct connection *connection = events[index].data.ptr;
      if (!receive(connection)) continue;
      if (read_ms(CLOCK_MONOTONIC) < ends_at_ms) {
        send_next(connection);
      } else {
        close(connection->socket);
        busy--;
      }
    }
  }
}

int main(void) {
  char host[64], key[256];
  int port;
  double duration_ms;
  if (scanf("%63s %d %255s %d %d %d %d %d %d %lf", host, &port, key, &connection_count, &entries,
            &quantity_min, &quantity_max, &quantity_shift, &is_random, &duration_ms) != 10 ||
      inet_pton(AF_INET, host, &address.sin_addr) != 1)
    errx(1, "The line on standard input is invalid.");
  address.sin_port = htons(port);
  snprintf(headers, sizeof headers,
           "Host: %s:%d\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n", host,
           port, key);
  srandom(time(NULL) ^ quantity_shift);
  epoll = epoll_create1(0);
  struct connection *connections = calloc(connection_count, sizeof *connections);
  if (connections == NULL) err(1, "The connections do not fit into memory");
  for (int index = 0; index < connection_count; index++)
    open_connection(&connections[index], index);
  double started_at_ms = read_ms(CLOCK_MONOTONIC);
  double cpu_before_ms = read_ms(CLOCK_PROCESS_CPUTIME_ID);
  run(connections, started_at_ms + duration_ms);
  double seconds = (read_ms(CLOCK_MONOTONIC) - started_at_ms) / 1e3;
  double cpu_seconds = (read_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu_before_ms) / 1e3;
  printf("{\"seconds\":%.6f,\"cpuSeconds\":%.6f,\"requests\":%u,"
         "\"p50Ms\":%.6f,\"p99Ms\":%.6f,\"maxMs\":%.6f}\n",
         seconds, cpu_seconds, responses, percentile_ms(0.5), percentile_ms(0.99), latency_max_ms);
}
