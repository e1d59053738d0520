/** What documents say of programs that were not measured, and what variables and the image's version change. */
import { expect, it } from 'vitest';
import type { ProgramContainer } from '../../src/programs/behaviour.ts';
import { stopSignalOfImage } from '../../src/programs/images.ts';
import { stopBehaviour } from '../../src/programs/stop-behaviour.ts';

const words = (command: string) => command.split(' ');
const celery = words('celery -A app worker');

interface Case {
  container: ProgramContainer;
  signal?: string;
  says: RegExp;
  never?: RegExp;
}

const cases: Readonly<Record<string, Case>> = {
  'a rewrite of dumb-init changes that signal alone': {
    container: { command: words('dumb-init --rewrite 15:3 nginx -g daemon-off') },
    signal: 'QUIT',
    says: /nginx finishes its work on SIGQUIT/,
  },
  'a rewrite of dumb-init sends the other signal': {
    container: { command: words('dumb-init -r 15:10 app') },
    says: /SIGUSR1 reaches app/,
  },
  'several rewrites of dumb-init are not followed': {
    container: { command: words('dumb-init -r 15:3 -r 3:15 app') },
    says: /is not known/,
  },
  'dumb-init signals the pool processes of celery': {
    container: { command: ['dumb-init', '--', ...celery] },
    says: /pool processes .* lost/,
    never: /warm/,
  },
  'a pool of threads has no processes that get the signal of the group': {
    container: { command: ['dumb-init', '--', ...celery, '-P', 'threads'] },
    says: /warm shutdown/,
    never: /lost/,
  },
  'tini -g signals the pool processes of celery': {
    container: { command: ['tini', '-g', '--', ...celery] },
    says: /pool processes .* lost/,
  },
  'a variable makes tini signal the group': {
    container: { command: ['tini', '--', ...celery], env: ['TINI_KILL_PROCESS_GROUP=1'] },
    says: /pool processes .* lost/,
  },
  'tini alone signals celery only': { container: { command: ['tini', '--', ...celery] }, says: /warm shutdown/ },
  'a single child gets the signal alone': {
    container: { command: ['dumb-init', '-c', '--', ...celery] },
    says: /warm shutdown/,
  },
  'a variable makes dumb-init signal its child only': {
    container: { command: ['dumb-init', '--', ...celery], env: ['DUMB_INIT_SETSID=0'] },
    says: /warm shutdown/,
  },
  'REMAP_SIGTERM makes SIGTERM the cold shutdown of celery': {
    container: { command: celery, env: ['REMAP_SIGTERM=SIGQUIT'] },
    says: /cold shutdown .* 5\.5/,
    never: /warm/,
  },
  'TERM_CHILD of resque gives the job its own time': {
    container: { command: words('rake resque:work'), env: ['TERM_CHILD=1', 'RESQUE_TERM_TIMEOUT=10'] },
    says: /TERM_CHILD.* limit 10$/,
  },
  'GRACEFUL_TERM of resque finishes the job': {
    container: { command: words('rake resque:work'), env: ['GRACEFUL_TERM=1'] },
    says: /finishes its work/,
    never: /SIGQUIT/,
  },
  "Laravel's worker listens to signals only with an extension of PHP": {
    container: { command: words('php artisan queue:work') },
    says: /extension pcntl.*with it queue:work finishes the job that runs; without it PID 1 drops the signal/,
    never: /finishes its work on/,
  },
  'a trap sends SIGTERM, whichever signal it is for': {
    container: { command: ['sh', '-c', 'nginx -g daemon-off & p=$!; trap "kill $p" QUIT; wait $p; wait $p'] },
    signal: 'QUIT',
    says: /nginx ends at once on SIGTERM|passes the signal on/,
  },
  'a trap that sends another signal is not followed': {
    container: { command: ['sh', '-c', 'app & p=$!; trap "kill -HUP $p" TERM; wait $p; wait $p'] },
    says: /runs commands whose effect is not known here/,
  },
  'env -S splits its argument, which is not the name of a program': {
    container: { command: ['env', '-S', 'gunicorn --graceful-timeout 70 shop:app'] },
    says: /the handlers of the application/,
    never: /gunicorn/,
  },
  'a loop that starts several programs needs a trap for all of them': {
    container: { command: ['sh', '-c', 'for p in 1 2; do gunicorn -b :$p app & done; wait'], image: 'debian:12' },
    says: /stop all of them: `for .*; wait; kill -TERM \$all; wait`/,
    never: /exec` as the last command/,
  },
  'a .NET of unknown version leaves both open': {
    container: { command: words('dotnet app.dll') },
    says: /up to \.NET 9.* from \.NET 10 on .* SIGKILL/,
  },
  '.NET 8 ends without a handler': {
    container: { command: words('dotnet app.dll'), image: 'mcr.microsoft.com/dotnet/aspnet:8.0' },
    says: /without one it ends at once/,
  },
  '.NET 10 has no handler': {
    container: { command: words('dotnet app.dll'), image: 'mcr.microsoft.com/dotnet/runtime:10.0-alpine' },
    says: /without one only SIGKILL ends it/,
  },
  '-Xrs counts in a variable of Java, and no init is the remedy': {
    container: { command: words('java -jar app.jar'), env: ['JAVA_TOOL_OPTIONS=-Xmx1g -Xrs'] },
    says: /has no handler for SIGTERM.* Remove -Xrs/,
    never: /Put an init/,
  },
  "Spring's own limit counts without being set": {
    container: { command: words('java -jar app.jar'), env: ['SERVER_SHUTDOWN=graceful'] },
    says: /^Spring .* for up to 30s.* counts for each phase.* limit 30$/,
  },
  "an argument sets Spring's limit": {
    container: {
      command: words('java -Dspring.lifecycle.timeout-per-shutdown-phase=10s -jar app.jar --server.shutdown=graceful'),
    },
    says: /for up to 10s.* limit 10$/,
  },
  "a variable with options sets Spring's limit": {
    container: {
      command: words('java -jar app.jar'),
      env: ['SERVER_SHUTDOWN=graceful', 'JAVA_TOOL_OPTIONS=-Dspring.lifecycle.timeout-per-shutdown-phase=5s'],
    },
    says: /for up to 5s.* limit 5$/,
  },
  ...Object.fromEntries(
    [
      ['LIFECYCLE_TIMEOUT_PER_SHUTDOWN_PHASE=PT1M5S', '65'],
      ['LIFECYCLE_TIMEOUTPERSHUTDOWNPHASE=5000', 'undefined'],
    ].map(([set, limit]) => [
      `Spring has the limit ${limit} with ${set}`,
      {
        container: { command: words('java -jar app.jar'), env: ['SERVER_SHUTDOWN=graceful', `SPRING_${set}`] },
        says: new RegExp(`^Spring finishes its work .*on SIGTERM.* limit ${limit}$`),
      },
    ]),
  ),
  "Spring's limit may be in its JSON": {
    container: {
      command: words('java -jar app.jar --server.shutdown=graceful'),
      env: ['SPRING_APPLICATION_JSON={"spring.lifecycle.timeout-per-shutdown-phase":"5s"}'],
    },
    says: /limit undefined$/,
  },
  'a limit that a variable of the shell sets is not known': {
    container: { command: words('cloudflared tunnel --grace-period $TIME run') },
    says: /limit undefined$/,
  },
  'celery compares REMAP_SIGTERM with SIGQUIT only': {
    container: { command: celery, env: ['REMAP_SIGTERM=QUIT'] },
    says: /warm shutdown/,
    never: /cold/,
  },
  'a trap waits for what does nothing for ever': {
    container: { command: ['sh', '-c', 'trap "exit 0" TERM; tail -f /dev/null'], image: 'alpine:3' },
    says: /only after what waits in the foreground.*as in `sleep 60/,
    never: /after the sleep/,
  },
  'an unknown gem behind bundle exec is probably a Ruby program': {
    container: { command: words('bundle exec karafka server') },
    says: /without one it ends at once if it is in Ruby, as it probably is, and else only SIGKILL/,
    never: /Go program/,
  },
  'a script behind bundle exec is none': {
    container: { command: words('bundle exec ./run.sh') },
    says: /run\.sh is a/,
  },
  'cassandra drains by itself': { container: { command: ['cassandra'] }, says: /hook drains it/, never: /does not/ },
  'loki keeps its chunks': { container: { command: ['loki'] }, says: /only with -ingester\.flush-on-shutdown/ },
  'MySQL is not MariaDB': { container: { image: 'mysql:8' }, says: /^mysqld cuts/ },
  'mongod has no quiesce period before 5.0': {
    container: { command: ['mongod'], image: 'mongo:4.4' },
    says: /before 5\.0/,
    never: /15/,
  },
  'mongod has a quiesce period from 5.0 on': {
    container: { command: ['mongod'], image: 'mongo:7.0' },
    says: /for up to 15s/,
  },
  'supervisord sends SIGTERM, whichever signal it gets': {
    container: { command: ['supervisord'] },
    signal: 'QUIT',
    says: /one for SIGTERM/,
    never: /SIGQUIT/,
  },
  'an old uv passes no SIGTERM on': {
    container: { command: words('uv run app'), image: 'ghcr.io/astral-sh/uv:0.4.23-debian' },
    says: /uv run has no handler/,
  },
  'a newer uv passes SIGTERM on': {
    container: { command: words('uv run app'), image: 'ghcr.io/astral-sh/uv:0.8.3-debian' },
    says: /SIGTERM reaches app/,
  },
  'conda run passes nothing on': {
    container: { command: words('conda run -n web gunicorn app') },
    says: /conda run has no handler.* its path in bin/,
  },
  'a trap that is expanded too early is not followed': {
    container: { command: ['bash', '-c', 'trap "kill $(jobs -p)" EXIT; app & wait'] },
    says: /cut the application off/,
    never: /if not only SIGKILL/,
  },
  'waiting for tail is idling': {
    container: { command: ['sh', '-c', 'trap : TERM; tail -f /dev/null & wait'], image: 'alpine:3' },
    says: /ash ends by its trap/,
    never: /cut off/,
  },
  'a variable sets the limit of cloudflared': {
    container: { command: words('cloudflared tunnel run'), env: ['TUNNEL_GRACE_PERIOD=45s'] },
    says: /limit 45$/,
  },
  'an option outranks the variable': {
    container: { command: words('cloudflared tunnel --grace-period 10s run'), env: ['TUNNEL_GRACE_PERIOD=45s'] },
    says: /limit 10$/,
  },
  'a variable in milliseconds sets no limit in seconds': {
    container: { command: words('pm2-runtime app.js'), env: ['PM2_KILL_TIMEOUT=3000'] },
    says: /limit 1\.6$/,
  },
  'huey wants SIGINT': { container: { command: ['huey_consumer.py'] }, says: /interrupted.* with SIGINT/ },
  'a runner of GitLab finishes its jobs': {
    container: { image: 'gitlab/gitlab-runner' },
    signal: 'QUIT',
    says: /jobs/,
  },
  'TensorFlow Serving has no handler': {
    container: { command: words('tensorflow_model_server --port=80') },
    says: /no handler for SIGTERM/,
  },
};

it.each(Object.entries(cases))('%s', (_title, { container, signal = 'TERM', says, never = /^$/ }) => {
  const { because, decidedBy, remedy, limitSeconds } = stopBehaviour(container, signal, 300);
  const said = [because, decidedBy, remedy?.text, `limit ${limitSeconds}`].join('; ');
  expect(said).toMatch(says);
  expect(said).not.toMatch(never);
});

it.each([
  ['postgres:12.3', undefined],
  ['postgres:9.4', undefined],
  ['postgres:9.6.18-alpine', undefined],
  ['postgres:12.4', 'SIGINT'],
  ['postgres:12', 'SIGINT'],
  ['postgres:9.6', 'SIGINT'],
  ['postgres:16.3-bookworm', 'SIGINT'],
  ['wordpress:6.6-fpm', 'SIGQUIT'],
  ['nextcloud:30-fpm-alpine', 'SIGQUIT'],
  ['wordpress:6.6', 'SIGWINCH'],
  ['wordpress:cli', undefined],
])('knows when %s got its STOPSIGNAL', (image, signal) => {
  expect(stopSignalOfImage(image)).toBe(signal);
});
