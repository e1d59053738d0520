# For use inside a cluster, as a Job (deploy/job.yaml): Node without a shell or a package manager, and no root.
# Bases by tag, not by digest: nobody would raise a digest here, and each release shall have what was mended until then.
# Which digests went into an image is in its provenance, which the release pushes with it.
FROM node:24-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build

FROM gcr.io/distroless/nodejs24-debian12:nonroot
WORKDIR /podexit
COPY --from=build /src/package.json /src/LICENSE ./
COPY --from=build /src/bin ./bin
COPY --from=build /src/dist ./dist
COPY --from=build /src/schema ./schema
# The root file system may be read-only: there is nowhere for a cache, and nothing else is written.
ENV NODE_DISABLE_COMPILE_CACHE=1
USER nonroot
ENTRYPOINT ["/nodejs/bin/node", "/podexit/bin/kubectl-podexit"]
CMD ["--help"]
