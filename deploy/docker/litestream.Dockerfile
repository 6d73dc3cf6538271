# The image of Dockerfile, with Litestream. The service needs it for PETSTORE_REPLICA_CHECK.
FROM petstore
COPY --from=litestream/litestream:0.5-scratch /usr/local/bin/litestream /usr/local/bin/litestream
