// A receiver of webhooks that confirms every message at once. Answers GET with the number of messages
// and of changes so far.
let messages = 0;
let changes = 0;

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    if (request.method === "GET") return Response.json({ messages, changes });
    const text = await request.text();
    messages += 1;
    changes += text.split('{"seq":').length - 1;
    return new Response(null, { status: 204 });
  },
});
process.send?.({ port: server.port });
