/**
 * Reads a pool: the hosts from which MachineSets of provider ssh take theirs. It is written down in ConfigMaps with the label of the pool, so
 * that git declares it and a large pool has several. A host that cannot be used is named, and keeps no other one from being used. Pure.
 */
import type { MachineImport } from '../../../api/generated/types.ts';
import { LABEL_HOST_POOL } from '../../../api/names.ts';
import { FINGERPRINT } from '../../../api/patterns.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import { isRecord, textAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { isHostKeyAlgorithm } from '../host-keys.ts';
import { addressReason, portReason, userReason } from '../target.ts';
import { bmcReason, readBmc } from './bmc.ts';
import { hostKeyText, type PoolContent, type PooledHost } from './host.ts';

/** The key of a ConfigMap of a pool. Its value is JSON. */
export const POOL_KEY = 'hosts.json';

export function readPool(name: string, objects: readonly KubeObject[]): PoolContent {
  const own = objects
    .filter(({ metadata }) => metadata.labels?.[LABEL_HOST_POOL] === name)
    .toSorted((a, b) => byCode(a.metadata.name, b.metadata.name));
  const read = own.map(readObject);
  const problems = read.flatMap((each) => each.problems);
  const hosts = new Map<string, PooledHost>();
  for (const host of read.flatMap((each) => each.hosts)) {
    const key = hostKeyText(host);
    if (hosts.has(key)) problems.push(`pool ${name}: ${key} is listed twice`);
    else hosts.set(key, host);
  }
  return { hosts: [...hosts.values()].toSorted((a, b) => byCode(hostKeyText(a), hostKeyText(b))), problems };
}

function readObject(object: KubeObject): PoolContent {
  const where = `ConfigMap ${object.metadata.name}`;
  const content = parseJson(textAt(object, 'data', POOL_KEY));
  if (!isRecord(content) || !Array.isArray(content['hosts'])) {
    return { hosts: [], problems: [`${where}: expected ${POOL_KEY} with a list "hosts"`] };
  }
  const defaults = { port: 22, user: 'root', ...content };
  const entries = content['hosts'].map((entry: unknown) => readHost(entry, defaults));
  return {
    hosts: entries.flatMap((each) => (typeof each === 'string' ? [] : [each])),
    problems: entries.flatMap((each) => (typeof each === 'string' ? [`${where}: ${each}`] : [])),
  };
}

/** Returns the host, or why it cannot be used. What an entry leaves out is taken from the pool. */
function readHost(entry: unknown, defaults: Readonly<Record<string, unknown>>): PooledHost | string {
  if (!isRecord(entry)) return 'expected an object for each host';
  const all: Readonly<Record<string, unknown>> = { labels: {}, ...defaults, ...entry };
  const { address, port, user, credentialsRef, hostKeys, labels } = all;
  const reason =
    addressFieldsReason(all) ??
    credentialsReason(credentialsRef) ??
    hostKeysReason(hostKeys) ??
    bmcReason(all['bmc']) ??
    labelsReason(all);
  if (reason !== undefined) {
    return `${typeof address === 'string' ? address.slice(0, 253) : 'a host'}: ${reason}`;
  }
  return {
    address: String(address),
    port: Number(port),
    user: String(user),
    ...optional('zone', textAt(all, 'zone')),
    labels: labels as PooledHost['labels'],
    hostKeys: hostKeys as PooledHost['hostKeys'],
    credentialsRef: { key: 'ssh-privatekey', ...(credentialsRef as { readonly name: string }) },
    ...optional('bmc', readBmc(all['bmc'])),
  };
}

function addressFieldsReason({ address, port, user }: Readonly<Record<string, unknown>>): string | undefined {
  const portProblem = typeof port === 'number' ? portReason(port) : 'expected a number as port';
  return textReason(address, addressReason) ?? portProblem ?? textReason(user, userReason);
}

function textReason(value: unknown, reasonFor: (text: string) => string | undefined): string | undefined {
  return typeof value === 'string' ? reasonFor(value) : 'expected a text as address and as user';
}

function credentialsReason(value: unknown): string | undefined {
  const name = textAt(value, 'name');
  const key = isRecord(value) && 'key' in value ? textAt(value, 'key') : 'ssh-privatekey';
  return name && key ? undefined : 'expected credentialsRef with the name of a Secret';
}

const FINGERPRINT_FORM = new RegExp(FINGERPRINT.regex);

/** The keys of a pool are pinned: no person looks at the first connection to each of its hosts. */
function hostKeysReason(value: unknown): string | undefined {
  const isList = Array.isArray(value) && value.length > 0 && value.length <= 8;
  const isValid =
    isList &&
    value.every((each) => {
      const algorithm = textAt(each, 'algorithm') ?? '';
      return isHostKeyAlgorithm(algorithm) && FINGERPRINT_FORM.test(textAt(each, 'fingerprint') ?? '');
    });
  return isValid
    ? undefined
    : 'expected 1 to 8 hostKeys with algorithm and fingerprint (see `ssh-keygen -l`)';
}

function labelsReason({ zone, labels }: Readonly<Record<string, unknown>>): string | undefined {
  if (zone !== undefined && typeof zone !== 'string') return 'expected a text as zone';
  const isValid = isRecord(labels) && Object.values(labels).every((value) => typeof value === 'string');
  return isValid ? undefined : 'expected labels with texts: quote numbers and true';
}

function parseJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns how the machine controller imports a host of the pool. */
export function importOfPooledHost(host: PooledHost): MachineImport {
  const { address, port, user, credentialsRef, hostKeys } = host;
  return {
    address,
    port,
    user,
    credentialsRef,
    hostKeyPolicy: 'Pinned',
    hostKeys,
    existingNode: 'Reject',
    dryRun: false,
    skipChecks: [],
  };
}
