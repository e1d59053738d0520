/** What copies could touch outside of themselves: a person is told before they are made. Pure. */
import type { KubernetesObject } from '@kubernetes/client-node';
import type { Situation } from '../advice/situation.ts';
import { asArray, asObject, asString } from '../model/observe/read.ts';
import { list } from '../verdict/words.ts';
import { podSpecIn } from './refusals.ts';

/** Each a clause. Of a variable only the name is printed: its value may hold a password. */
export function touchesOf(workload: KubernetesObject, { containers }: Situation): string[] {
  const podSpec = podSpecIn(workload);
  const raw = [...asArray(podSpec['initContainers']), ...asArray(podSpec['containers'])].map(asObject);
  const variables = containers.flatMap(({ env }) =>
    env.filter(({ name, value }) => sharedName.test(name) || sharedValue.test(value)).map(({ name }) => name),
  );
  const sources = raw
    .flatMap(({ envFrom }) => asArray(envFrom).map(asObject))
    .flatMap(({ secretRef }) => asString(asObject(secretRef)['name']) ?? []);
  const inits = containers.filter(({ kind }) => kind === 'init').map(({ name }) => name);
  const works = containers.flatMap(({ command: { command, args }, name }) => {
    const work = [...command, ...args, name].flatMap((word) => workWord.exec(word)?.[1] ?? [])[0];
    return work === undefined ? [] : [`${name} (${work})`];
  });
  const account = asString(podSpec['serviceAccountName']) ?? 'default';
  return [
    ...clause('connect to what these variables name', variables),
    ...clause('read their settings from Secret', sources),
    ...clause('run these init containers again', inits),
    ...clause('take work from a queue or a timetable', works),
    ...(account === 'default' ? [] : [`act in the cluster as ServiceAccount ${account}`]),
  ];
}

const clause = (words: string, names: readonly string[]): string[] =>
  names.length === 0 ? [] : [`${words}: ${list([...new Set(names)].slice(0, 8))}`];

/** Names of variables for things that several pods share. */
const sharedName =
  /(DATABASE|POSTGRES|MYSQL|MARIADB|MONGO|REDIS|MEMCACHE|AMQP|RABBIT|KAFKA|BROKER|NATS|QUEUE|SQS|PUBSUB|TOPIC|BUCKET|S3|SMTP|MAIL|WEBHOOK|ELASTIC|CASSANDRA)|(^|_)(DB|PG)(_|HOST)|_(DSN|URL|URI|HOST|ENDPOINT|ADDR|ADDRESS)$/i;
const sharedValue = /^(?!https?:)[a-z][a-z0-9+.-]*:\/\//i;

/** Words of a command line or a name for work that no client asks for. */
const workWord =
  /(?:^|[-_/:. ])(crond?|cronjob|scheduler|celery|beat|sidekiq|resque|worker|consumer|queue|migrate|migration)s?(?:$|[-_/:. ])/i;
