/** `kubenode defender status`: what is stopped, what is in flight, and how much of each limit is used. Reads objects only. */
import { Command } from 'commander';
import { DEFENDER_LEDGERS, DEFENDER_POLICIES } from '../../../api/generated/resources.ts';
import type { DefenderLedger, DefenderPolicy } from '../../../api/generated/types.ts';
import { isInFlight } from '../../../api/grants.ts';
import { FLEET_DEFAULT, LEDGER } from '../../../api/names.ts';
import { defenderLedgerPhases, defenderPolicyPhases } from '../../../api/status/phase-tables.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { type Condition, conditionOf } from '../../../kube/objects/conditions.ts';
import { printableLine } from '../../../kube/objects/printable.ts';
import { formatAge } from '../../../views/text/age.ts';
import { formatTable } from '../../../views/text/table.ts';
import { addConnectionOptions, type ConnectionFlags, connectFrom } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import { setExitCode } from '../../exit.ts';
import { hubHint } from '../../fleet/hub.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../output.ts';

const HELP = `
Shows the DefenderPolicies and what they stop, breakers that are not closed, the fullest limits, and the grants in the ledger.
Reads objects only, so it works while the controllers are down; then their last report is shown. Denials are those of the
controllers and their HTTP API: what kubenode defender ask was denied is not counted.
Exits with 1 when something is stopped, refused, or waits for a person, when acts are not recorded, and without the policy fleet-default: then every ask is denied.`;

export interface DefenderState {
  readonly policies: readonly DefenderPolicy[];
  readonly ledger: DefenderLedger | undefined;
}

export function createDefenderStatusCommand(io: Io): Command {
  const command = new Command('status')
    .description('show policies, breakers, limits in use and grants')
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action(
    async (flags: ConnectionFlags & { readonly output: OutputFormat }) => {
      const client = await connectFrom(io, flags);
      try {
        await refuseHub(client, io.signal);
        const state = await readDefenderState(client, io.signal);
        if (flags.output === 'table') io.out(formatDefenderState(state, io.clock.now()));
        else printResult(io, flags.output, state, () => ({ columns: [], rows: [] }));
        if (hasTrouble(state)) setExitCode(io, EXIT.failed);
      } finally {
        await client.close();
      }
    },
  );
}

/** A hub has no Defender, and needs none. */
async function refuseHub(client: Client, signal: AbortSignal): Promise<void> {
  const hint = await hubHint(client, signal);
  if (hint === undefined) return;
  throw new CliError('a hub has no Defender: each of its clusters has one', {
    where: client.server,
    hint,
    exitCode: EXIT.badInput,
  });
}

export async function readDefenderState(client: Client, signal: AbortSignal): Promise<DefenderState> {
  try {
    const [policies, ledgers] = await Promise.all([
      client.list<DefenderPolicy>(DEFENDER_POLICIES, { signal }),
      client.list<DefenderLedger>(DEFENDER_LEDGERS, { signal }),
    ]);
    return {
      policies: policies.items.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)),
      ledger: ledgers.items.find(({ metadata }) => metadata.name === LEDGER),
    };
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error;
    throw new CliError('this cluster has no Defender: kind DefenderPolicy is not installed', {
      where: client.server,
      hint: 'run `kubenode install`, or point --context at another cluster',
      exitCode: EXIT.badInput,
      cause: error,
    });
  }
}

const RUN_CONTROLLERS = 'run kubenode controllers for this cluster';
const TROUBLE: readonly string[] = ['Refused', 'Stopped', 'BreakerOpen'];

export function hasTrouble({ policies, ledger }: DefenderState): boolean {
  return (
    !policies.some(({ metadata }) => metadata.name === FLEET_DEFAULT) ||
    policies.some(({ status }) => TROUBLE.includes(defenderPolicyPhases.phaseOf({ ...status }))) ||
    !ledger ||
    (ledger.status !== undefined && defenderLedgerPhases.phaseOf(ledger.status) !== 'Ready') ||
    ledgerTroubles(ledger).length > 0
  );
}

/** Lists the conditions that a person has to end: acts that are not recorded leave the ledger Ready. */
function ledgerTroubles({ status }: DefenderLedger): readonly Condition[] {
  const conditions = status?.conditions ?? [];
  return conditions.filter(({ type, status: value }) => (type === 'Ready') !== (value === 'True'));
}

export function formatDefenderState(state: DefenderState, now: Date): string {
  return [
    policiesTable(state),
    breakersTable(state, now),
    usageTable(state),
    approvalsTable(state, now),
    grantsTable(state, now),
    ledgerLine(state, now),
  ]
    .filter(Boolean)
    .join('\n');
}

function policiesTable({ policies }: DefenderState): string {
  const rows = policies.map(({ metadata: { name }, spec: { mode }, status }) => [
    name,
    mode,
    status?.phase ?? 'Pending',
    String(Object.values(status?.denials ?? {}).reduce((sum, count) => sum + count, 0)),
    firstTrouble(status),
  ]);
  const empty = 'there is no DefenderPolicy: every ask is denied until fleet-default exists';
  return formatTable({ columns: ['policy', 'mode', 'phase', 'denied 24h', 'why'], rows, empty });
}

function firstTrouble(status: DefenderPolicy['status']): string {
  if (status === undefined) return `no controller has observed it: ${RUN_CONTROLLERS}`;
  const refused = conditionOf(status?.conditions, 'Accepted');
  if (refused?.status === 'False') return refused.message;
  const found = ['KillSwitchEngaged', 'BreakerOpen'].map((type) => conditionOf(status?.conditions, type));
  return found.find((condition) => condition?.status === 'True')?.message ?? '-';
}

function breakersTable({ policies }: DefenderState, now: Date): string {
  const rows = policies.flatMap(({ metadata, status }) =>
    (status?.breakers ?? []).map(({ name = '', key = '', state = '', since = '', evidence = '-' }) => [
      `${metadata.name}/${name}/${key}`,
      state,
      formatAge(since, now),
      evidence,
    ]),
  );
  return rows.length === 0 ? '' : formatTable({ columns: ['breaker', 'state', 'since', 'evidence'], rows });
}

function usageTable({ policies }: DefenderState): string {
  const rows = policies.flatMap(({ metadata, status }) =>
    (status?.usage ?? [])
      .filter(({ used = 0 }) => used > 0)
      .map(({ rule = '', key = '', used = 0, limit = 0 }) => [
        metadata.name,
        rule,
        key,
        `${used} of ${limit}`,
      ]),
  );
  return rows.length === 0 ? '' : formatTable({ columns: ['policy', 'limit', 'key', 'used'], rows });
}

/** As the leading controllers heard them. */
function approvalsTable({ ledger }: DefenderState, now: Date): string {
  const rows = (ledger?.status?.approvals ?? []).map(({ machine, action, holder, since }) => [
    machine,
    action,
    `${holder.kind}/${holder.name}`,
    formatAge(since, now),
    `kubenode defender approve ${machine} --reason ...`,
  ]);
  const columns = ['waits for approval', 'action', 'holder', 'since', 'answer with'];
  return rows.length === 0 ? '' : formatTable({ columns, rows });
}

function grantsTable({ ledger }: DefenderState, now: Date): string {
  const rows = Object.entries(ledger?.spec.grants ?? {}).map(([machine, grant]) => [
    machine,
    grant.action,
    isInFlight(grant) ? grant.state : `${grant.state} (${grant.outcome ?? 'unknown'})`,
    `${grant.holder.kind} ${grant.holder.name}`,
    formatAge(grant.issuedAt, now),
    grant.id,
  ]);
  const columns = ['machine', 'action', 'state', 'holder', 'age', 'grant'];
  return formatTable({ columns, rows, empty: 'no grants' });
}

function ledgerLine({ ledger }: DefenderState, now: Date): string {
  if (!ledger) return 'ledger: not found. The controllers recreate it, and deny everything for 300 s\n';
  const { spec, status } = ledger;
  const troubles = ledgerTroubles(ledger).map(
    ({ message, lastTransitionTime }) => `${message} (${formatAge(lastTransitionTime, now)})`,
  );
  const head = `ledger: seq ${spec.seq}, epoch ${spec.epoch}, ${status?.phase ?? `not reported: ${RUN_CONTROLLERS}`}`;
  const why = troubles.length > 0 ? `: ${troubles.join('; ')}` : '';
  return `${printableLine(`${head}${why}`)}\n`;
}
