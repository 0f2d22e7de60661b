/** Reads hosts.yaml. All problems are reported at once, each with its line. Pure. */
import { type Document, LineCounter, parseDocument } from 'yaml';
import type { HostKey } from '../../../../api/generated/types.ts';
import { isRecord, type JsonRecord } from '../../../../kube/objects/json.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { messageOf } from '../../../../os/errors.ts';
import type { SshTarget } from '../../../../providers/ssh/target.ts';
import { type FieldRules, HOST_FIELDS, HOST_KEY_FIELDS, VIA_FIELDS } from './fields.ts';
import type { ListedHost } from './host.ts';

export interface HostsFileProblem {
  readonly line: number;
  readonly message: string;
}

export interface HostsFile {
  readonly hosts: readonly ListedHost[];
  readonly problems: readonly HostsFileProblem[];
}

type Path = readonly (string | number)[];
/** The port and the user of hosts that name none. */
type Defaults = Pick<SshTarget, 'port' | 'user'>;

interface Reading {
  readonly problems: HostsFileProblem[];
  readonly report: (path: Path, message: string) => void;
}

export function readHostsFile(text: string, defaults: Defaults): HostsFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const problems: HostsFileProblem[] = document.errors.map(({ pos, message }) => ({
    line: lines.linePos(pos[0]).line,
    message: (message.split('\n')[0] ?? message).replace(/ at line \d+, column \d+:?$/, ''),
  }));
  if (problems.length > 0) return { hosts: [], problems };
  const reading: Reading = {
    problems,
    report: (path, message) => void problems.push({ line: lineAt(document, lines, path), message }),
  };
  const entries = entriesOf(contentOf(document, reading), reading);
  const hosts = entries.flatMap((entry, index) => readHost(entry, index, { reading, defaults }) ?? []);
  return { hosts: problems.length > 0 ? [] : hosts, problems };
}

/** Undefined for aliases that expand to a huge value. */
function contentOf(document: Document, { report }: Reading): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    report([], messageOf(error));
    return undefined;
  }
}

function entriesOf(content: unknown, { report }: Reading): readonly unknown[] {
  if (!isRecord(content) || !Array.isArray(content['hosts'])) {
    report([], 'expected a list "hosts"');
    return [];
  }
  for (const field of Object.keys(content)) {
    if (field !== 'hosts') report([field], `unknown field ${field}: expected hosts only`);
  }
  const entries = content['hosts'] as readonly unknown[];
  if (entries.length === 0) report(['hosts'], 'hosts is empty: expected at least one');
  return entries;
}

interface Context {
  readonly reading: Reading;
  readonly defaults: Defaults;
}

function readHost(entry: unknown, index: number, { reading, defaults }: Context): ListedHost | undefined {
  const path = ['hosts', index];
  if (!hasFields(entry, HOST_FIELDS, path, reading)) return undefined;
  const hostKeys = readHostKeys(entry['hostKeys'], [...path, 'hostKeys'], reading);
  const via = entry['via'];
  const viaPath = [...path, 'via'];
  if (via !== undefined && !hasFields(via, VIA_FIELDS, viaPath, reading)) return undefined;
  const viaKeys = isRecord(via)
    ? readHostKeys(via['hostKeys'], [...viaPath, 'hostKeys'], reading)
    : undefined;
  return {
    target: targetOf(entry, defaults),
    ...optional('name', entry['name'] as string | undefined),
    ...optional('zone', entry['zone'] as string | undefined),
    ...optional('labels', entry['labels'] as ListedHost['labels']),
    ...optional('hostKeys', hostKeys),
    ...(isRecord(via) && {
      via: {
        target: targetOf(via, { ...defaults, port: DEFAULT_PORT }),
        hostKeys: viaKeys ? { type: 'Pinned', keys: viaKeys } : { type: 'TrustOnFirstUse' },
      },
    }),
  };
}

/** A jump host listens where sshd does, whatever --port is for the hosts behind it. */
const DEFAULT_PORT = 22;

function targetOf(entry: JsonRecord, { port, user }: Defaults): SshTarget {
  return {
    address: entry['address'] as string,
    port: (entry['port'] as number | undefined) ?? port,
    user: (entry['user'] as string | undefined) ?? user,
  };
}

function readHostKeys(value: unknown, path: Path, reading: Reading): readonly HostKey[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const entries = value as readonly unknown[];
  if (entries.length === 0 || entries.length > 8) reading.report(path, 'hostKeys: expected 1 to 8 keys');
  return entries.flatMap((key, index) =>
    hasFields(key, HOST_KEY_FIELDS, [...path, index], reading)
      ? [{ algorithm: key['algorithm'] as string, fingerprint: key['fingerprint'] as string }]
      : [],
  );
}

/** Reports each field that is unknown, missing or invalid. Secrets are not in this file, so values may be shown. */
function hasFields(
  value: unknown,
  { fields, required }: FieldRules,
  path: Path,
  { report, problems }: Reading,
): value is JsonRecord {
  const before = problems.length;
  if (!isRecord(value)) {
    report(path, `expected an object with ${Object.keys(fields).join(', ')}`);
    return false;
  }
  for (const name of required) {
    if (value[name] === undefined) report(path, `${name} is missing`);
  }
  for (const [name, found] of Object.entries(value)) {
    const reason = fieldReason(name, found, fields);
    if (reason !== undefined) report([...path, name], reason);
  }
  return problems.length === before;
}

function fieldReason(name: string, found: unknown, fields: FieldRules['fields']): string | undefined {
  const reasonFor = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (reasonFor === undefined) return `unknown field ${name}: expected ${Object.keys(fields).join(', ')}`;
  const reason = reasonFor(found);
  return reason && `${name}: ${reason}, got ${JSON.stringify(found)}`;
}

function lineAt(document: Document, lines: LineCounter, path: Path): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    const range = (node as { range?: readonly number[] | null } | null | undefined)?.range;
    if (range?.[0] !== undefined) return lines.linePos(range[0]).line;
  }
  return 1;
}
