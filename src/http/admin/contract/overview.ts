/** The introduction of the operator API's description. */
export const adminOverview = `This API is for the people who run the store. The console at \`/console\` uses it. Clients of the store use the API under \`/v1\`.

## Authentication

Send an operator key in the header \`Authorization: Bearer <OPERATOR_KEY>\`. \`petstore keys create --operator --name NAME\` creates one. Operator keys start with \`pso_live_\` or \`pso_test_\`. An API key is not accepted here, and an operator key is not accepted under \`/v1\`.

A browser signs in with \`POST /session\` and is then authenticated by a cookie. A request with the cookie that changes something must come from a page of this service: \`Sec-Fetch-Site\` must be \`same-origin\`, and \`Origin\` must match \`Host\`. Otherwise the response is 403.

## Rate limits

Every operator key can send 3,000 requests per minute and 1,000,000 per day. Requests without valid credentials are limited by the address of the client, to 30 per minute unless the service is configured differently.

## Records

Every change to stock is a row of the ledger. Everything else that operators change is a row of the audit log, with the ID of the operator key and of the request. Neither can be altered.

## Stability

All operations are \`beta\`: they can change with a notice in the changelog. Every response has \`Cache-Control: no-store\`.
`;
