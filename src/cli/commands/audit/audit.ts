/** `kubenode audit`: which commit and which grant changed an object or a node, who is behind it, and how it ended. */
import { Command, InvalidArgumentError, Option } from 'commander';
import type { AuditLine } from '../../../api/audit/lines.ts';
import { type AuditRead, readAuditRecord } from '../../../api/audit/read.ts';
import { DEFENDER_LEDGERS, RELEASES } from '../../../api/generated/resources.ts';
import type { Release } from '../../../api/generated/types.ts';
import { LEDGER, NAMESPACE_AUDIT } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { secondsAfter } from '../../../os/dates.ts';
import { auditJson, auditTable, auditWarnings } from '../../../views/audit/rows.ts';
import { type AuditEntry, type AuditQuestion, selectEntries } from '../../../views/audit/select.ts';
import { formatTable } from '../../../views/text/table.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import { readIfPermitted } from '../../fleet/machine-context.ts';
import { withCluster } from '../../fleet/read.ts';
import type { Io } from '../../io.ts';
import { createDurationOption } from '../../option-parsers.ts';
import { printWarnings } from '../../output.ts';
import { commitLines, currentActs } from './current.ts';

const HELP = `
Reads the audit record of one cluster in namespace ${NAMESPACE_AUDIT}: writes of sync with their commit, acts on machines with their grant, and
decisions of people. An author is what a commit states, so it is "unverified" unless a signature was verified (spec.source.signatures).
-o json prints one line of JSON for each entry, for a log store. The newest part of the record is kept, by size: see docs/guides/audit.md.

Examples:
  kubenode audit --node n1 --since 7d
  kubenode audit --object MachineComponentSet/base
  kubenode audit --commit 4f2a91c --since 30d -o json >> audit.jsonl`;

interface Flags extends ConnectionFlags {
  readonly node?: string;
  readonly object?: string;
  readonly commit?: string;
  readonly since: number;
  readonly output: 'table' | 'json';
}

export function createAuditCommand(io: Io): Command {
  const command = new Command('audit')
    .description('show which commit and which grant changed an object or a node, and who is behind it')
    .option('--node <name>', 'acts on this machine, and writes of its Machine')
    .option(
      '--object <kind/name>',
      'writes of this object, and acts for it: Kind/name or Kind/namespace/name',
    )
    .option('--commit <id>', 'what this commit changed: at least 7 digits', parseCommit)
    .addOption(createDurationOption('--since <duration>', 'how far back', '7d'))
    .addOption(
      new Option('-o, --output <format>', 'output format').choices(['table', 'json']).default('table'),
    )
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action((flags: Flags) =>
    withCluster(io, flags, (client) => audit(io, client, flags)),
  );
}

function parseCommit(text: string): string {
  if (/^[0-9a-f]{7,64}$/.test(text)) return text;
  throw new InvalidArgumentError(
    `Expected 7 to 64 hexadecimal digits of a commit, got ${JSON.stringify(text)}.`,
  );
}

async function audit(io: Io, client: Client, flags: Flags): Promise<void> {
  const { node, object, commit } = flags;
  const now = io.clock.now();
  const since = secondsAfter(now, -flags.since);
  const record = await readRecord(client, node, io.signal);
  const current = await readCurrent(client, record, { now, signal: io.signal });
  const question: AuditQuestion = {
    ...optional('node', node),
    ...optional('object', object),
    ...optional('commit', commit),
    since,
  };
  const entries = selectEntries([...current.commits, ...record.lines, ...current.acts], question);
  printWarnings(io, [...auditWarnings(record), ...current.warnings]);
  print(io, flags, entries);
}

function print(io: Io, { output }: Flags, entries: readonly AuditEntry[]): void {
  if (output === 'json') {
    for (const entry of entries) io.out(`${JSON.stringify(auditJson(entry))}\n`);
    return;
  }
  io.out(formatTable(auditTable(entries, 'nothing is recorded about this: try a longer --since')));
}

/** Acts on other machines are not kept in memory. */
async function readRecord(client: Client, node: string | undefined, signal: AbortSignal): Promise<AuditRead> {
  const isShown = (line: AuditLine): boolean =>
    node === undefined || (line.type !== 'act' && line.type !== 'answer') || line.machine === node;
  try {
    return await readAuditRecord(client, isShown, signal);
  } catch (error) {
    if (!isKubeError(error, 'Forbidden')) throw error;
    throw new CliError(`the audit record cannot be read: ${error.message}`, {
      where: client.server,
      hint: `ask for ClusterRole view in namespace ${NAMESPACE_AUDIT}`,
      exitCode: EXIT.denied,
      cause: error,
    });
  }
}

interface Current {
  readonly commits: readonly AuditLine[];
  readonly acts: readonly AuditLine[];
  readonly warnings: readonly string[];
}

/** Reads what is not in the record yet: acts in flight, and on a hub what the Releases know about commits. */
async function readCurrent(
  client: Client,
  { lines }: AuditRead,
  { now, signal }: { readonly now: Date; readonly signal: AbortSignal },
): Promise<Current> {
  const ledger = await readIfPermitted(client, DEFENDER_LEDGERS, LEDGER, signal);
  const releases = await readReleases(client, signal);
  const warnings = ledger ? [] : ['the DefenderLedger cannot be read: acts in flight are not shown'];
  return {
    commits: commitLines(releases),
    acts: ledger ? currentActs(ledger.spec, lines, now) : [],
    warnings,
  };
}

/** Only a hub has Releases. */
async function readReleases(client: Client, signal: AbortSignal): Promise<readonly Release[]> {
  const found: Release[] = [];
  try {
    for await (const { items } of client.pages<Release>(RELEASES, { signal })) found.push(...items);
  } catch (error) {
    if (!isKubeError(error, 'NotFound', 'Forbidden')) throw error;
  }
  return found;
}
