/**
 * Restores the data of an API server to an earlier state through etcd's JSON gateway. Faster than deletes by the API,
 * and complete: finalizers, and namespaces without a controller manager, do not block it.
 */
import { sendProbe } from '../../src/local/processes/probe.ts';
import type { Run } from './control-plane-run.ts';

export interface Row {
  readonly revision: string;
  /** Base64, as in etcd's gateway. */
  readonly value: string;
}
export type Snapshot = ReadonlyMap<string, Row>;

/** What one server has and a new one has not: keys without the prefix of the server, values in base64. */
export type Addition = readonly (readonly [key: string, value: string])[];

/** Keys and values are in base64. */
export type Operation =
  | { readonly request_delete_range: { readonly key: string } }
  | { readonly request_put: { readonly key: string; readonly value: string } };

type Etcd = Run['etcd'];

/** etcd refuses a transaction of more than 128 operations. */
const BATCH = 100;
/** The API server renews these itself: restoring them would cause errors in its log. */
const SERVER_KEYS = /\/leases\/kube-system\/apiserver-|\/masterleases\/|\/peerserverleases\//;

export async function snapshot(etcd: Etcd, prefix: string): Promise<Snapshot> {
  return await range(etcd, prefix, false);
}

export async function restore(etcd: Etcd, prefix: string, target: Snapshot): Promise<void> {
  const found = await range(etcd, prefix, true);
  const surplus = [...found.keys()].filter((key) => !target.has(key));
  const changed = [...target].filter(([key, row]) => found.get(key)?.revision !== row.revision);
  const operations: Operation[] = [
    ...surplus.map((key) => ({ request_delete_range: { key } })),
    ...changed.map(([key, { value }]) => ({ request_put: { key, value } })),
  ];
  for (const success of transactionsOf(operations.filter((one) => isRestored(keyOf(one))))) {
    await call(etcd, '/v3/kv/txn', { success });
  }
}

/** What was created since the snapshot. */
export async function additionSince(etcd: Etcd, prefix: string, before: Snapshot): Promise<Addition> {
  return additionBetween(before, await range(etcd, prefix, false), prefix);
}

/** A server that reaches others creates them when it is ready. Another server keeps the port that it finds there. */
const OWN_ENDPOINTS = /^\/(?:services\/endpoints|endpointslices)\/default\/kubernetes$/;

export function additionBetween(before: Snapshot, after: Snapshot, prefix: string): Addition {
  return [...after]
    .filter(([key]) => !before.has(key))
    .map(([key, { value }]): [string, string] => [
      Buffer.from(key, 'base64').toString().slice(prefix.length),
      value,
    ])
    .filter(([key]) => !OWN_ENDPOINTS.test(key));
}

/** Before the server of this prefix starts: it then need not be asked for each object. */
export async function preload(etcd: Etcd, prefix: string, addition: Addition): Promise<void> {
  const rows = addition.map(([key, value]): [string, Row] => [
    Buffer.from(`${prefix}${key}`).toString('base64'),
    { revision: '', value },
  ]);
  await restore(etcd, prefix, new Map(rows));
}

/**
 * All changes of a transaction have one revision, and an API server answers a list once it has one event of that
 * revision: it would still list the others. So the last change of each resource is made alone, in the last transaction.
 */
export function transactionsOf(operations: readonly Operation[]): Operation[][] {
  const last = new Map(operations.map((operation) => [resourceOf(keyOf(operation)), operation]));
  const earlier = operations.filter((operation) => last.get(resourceOf(keyOf(operation))) !== operation);
  return [...batches(earlier), ...batches([...last.values()])];
}

function batches(operations: readonly Operation[]): Operation[][] {
  return Array.from({ length: Math.ceil(operations.length / BATCH) }, (_, index) =>
    operations.slice(index * BATCH, (index + 1) * BATCH),
  );
}

/** `/prefix/configmaps/…`, and with its group `/prefix/kubenode.dev/machines/…`: no resource of Kubernetes has a dot. */
function resourceOf(key: string): string {
  const [, , first = '', second = ''] = Buffer.from(key, 'base64').toString().split('/');
  return first.includes('.') ? `${first}/${second}` : first;
}

function keyOf(operation: Operation): string {
  return 'request_put' in operation ? operation.request_put.key : operation.request_delete_range.key;
}

function isRestored(key: string): boolean {
  return !SERVER_KEYS.test(Buffer.from(key, 'base64').toString());
}

interface RangeAnswer {
  readonly kvs?: readonly { readonly key: string; readonly mod_revision: string; readonly value?: string }[];
  readonly more?: boolean;
}

async function range(etcd: Etcd, prefix: string, keysOnly: boolean): Promise<Map<string, Row>> {
  const start = Buffer.from(`${prefix}/`);
  const end = Buffer.from(`${prefix}0`); // '0' follows '/'
  const answer = (await call(etcd, '/v3/kv/range', {
    key: start.toString('base64'),
    range_end: end.toString('base64'),
    keys_only: keysOnly,
  })) as RangeAnswer;
  return new Map(
    (answer.kvs ?? []).map(({ key, mod_revision, value = '' }) => [key, { revision: mod_revision, value }]),
  );
}

async function call({ url, caPem, client }: Etcd, path: string, body: object): Promise<unknown> {
  const endpoint = { url: `${url}${path}`, caPem, client };
  const answer = await sendProbe(endpoint, { method: 'POST', body: JSON.stringify(body), timeoutMs: 30_000 });
  if (answer.status !== 200) throw new Error(`etcd answered ${answer.status} to ${path}: ${answer.body}`);
  return JSON.parse(answer.body);
}
