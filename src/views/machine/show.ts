/** Shows one machine to people: what happens on it, why, since when, and what unblocks it. Pure. */
import type { LedgerGrant, Machine, MachineDrain } from '../../api/generated/types.ts';
import { isCordoned, readinessOf, readyTransition } from '../../api/machine/node-state.ts';
import { type Condition, conditionOf } from '../../kube/objects/conditions.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { printableLine } from '../../kube/objects/printable.ts';
import { holdsOf } from '../../rollout/holds.ts';
import { unblockHint } from '../fleet/unblock.ts';
import { formatAge } from '../text/age.ts';
import { fitTable, formatField } from '../text/wrap.ts';
import { badConditionRows, componentRows } from './components.ts';
import { machineRow } from './list.ts';
import { type ProbesView, probesText } from './probes.ts';
import { machineTrouble, type Trouble } from './trouble.ts';

export interface ShownMachine {
  readonly machine: Machine;
  /** The Node of the machine. Undefined: there is none, or it cannot be read. */
  readonly node: KubeObject | undefined;
  /** The grant of the machine in the ledger, unless it is settled. */
  readonly grant: LedgerGrant | undefined;
  /** The results of probes by its peers, while its agent is silent. Undefined: no peer was asked. */
  readonly probes: ProbesView | undefined;
}

export function formatMachine(shown: ShownMachine, now: Date, columns: number): string {
  const { machine } = shown;
  const field = (name: string, text: string): string => formatField(name, text, columns);
  const trouble = machineTrouble(machine);
  const summary = [
    `${printableLine(headline(machine, now))}\n`,
    field('node', nodeText(shown, now)),
    field('agent', agentText(machine, now)),
    field('power', powerText(machine, now)),
    field('probes', shown.probes ? probesText(shown.probes, now) : ''),
    field('held', holdText(shown)),
    field('act', grantText(shown, now)),
    field('drain', drainText(machine, now)),
    trouble ? field('waits', troubleText(trouble, now)) : '',
    trouble ? field('unblocks', unblockHint(trouble, firstSet(machine))) : '',
  ].join('');
  return `${summary}${componentTable(machine, now, columns)}${conditionTable(machine, now, columns)}`;
}

function troubleText({ reason, since, message }: Trouble, now: Date): string {
  const head = since === undefined ? reason : `${reason} ${formatAge(since, now)}`;
  return [head, message].filter(Boolean).join(': ');
}

function headline(machine: Machine, now: Date): string {
  const { name, phase, since, zone } = machineRow(machine);
  const { provider } = machine.spec.infra;
  const place = [zone && `zone ${zone}`, provider].filter(Boolean).join(', ');
  return [name, since === undefined ? phase : `${phase} ${formatAge(since, now)}`, place].join('   ');
}

function nodeText({ node }: ShownMachine, now: Date): string {
  if (!node) return 'none, or it cannot be read';
  const since = readyTransition(node);
  const cordoned = isCordoned(node) ? ', cordoned' : '';
  return `${readinessOf(node)} ${formatAge(since?.toISOString(), now)}${cordoned}`;
}

function agentText({ status }: Machine, now: Date): string {
  const ready = conditionOf(status?.conditions, 'AgentReady');
  const { version, host } = status?.agent ?? {};
  const what = [version, host && `on ${host}`].filter(Boolean).join(' ');
  return [what, heardText(ready, now)].filter(Boolean).join(', ');
}

/** Returns the power of a silent host as its BMC told it last, or why it did not. */
function powerText({ status }: Machine, now: Date): string {
  if (!status?.power) return '';
  const { state, since, message } = status.power;
  return [`${state} for ${formatAge(since, now)}`, message].filter(Boolean).join(': ');
}

function heardText(ready: Condition | undefined, now: Date): string {
  if (!ready) return 'not heard yet';
  const age = formatAge(ready.lastTransitionTime, now);
  return ready.status === 'True' ? `heard for ${age}` : `not heard for ${age}: ${ready.reason}`;
}

function holdText({ machine, node }: ShownMachine): string {
  return holdsOf(machine, node)
    .map(({ reason, scope, until }) => {
      const what = scope === 'All' ? 'all automation' : 'disruptive acts';
      return `${what}: ${reason}${until ? ` (until ${until})` : ''}`;
    })
    .join('; ');
}

function grantText({ grant }: ShownMachine, now: Date): string {
  if (!grant) return '';
  const { action, state, holder, issuedAt, notAfter, id } = grant;
  return `${action} ${state} for ${holder.kind} ${holder.name}, granted ${formatAge(issuedAt, now)} ago, ends ${notAfter} [${id}]`;
}

function drainText({ status }: Machine, now: Date): string {
  const { drain } = status ?? {};
  if (!drain) return '';
  const { state = 'Cordoned', since, blockedBy = [] } = drain;
  const blocked = blockedBy.length > 0 ? `, blocked by ${blockedBy.join(', ')}` : '';
  return `${state} ${formatAge(since, now)}: ${evictionText(drain)}${blocked}`;
}

function evictionText({ total = 0, evicted = 0, pending = 0 }: MachineDrain): string {
  return `${evicted} of ${total} pods evicted, ${pending} left`;
}

function firstSet({ spec }: Machine): string | undefined {
  return spec.components.find(({ assignment }) => assignment?.set !== undefined)?.assignment?.set;
}

function componentTable(machine: Machine, now: Date, columns: number): string {
  const rows = componentRows(machine).map(({ name, desired, runs, state, since, because }) => [
    name,
    desired,
    runs,
    state,
    formatAge(since, now),
    because,
  ]);
  if (rows.length === 0) return '\nno components: no set selects it, and none is pinned\n';
  return `\n${fitTable({ columns: ['component', 'desired', 'runs', 'state', 'since', 'why'], rows }, columns)}`;
}

/** Formats the conditions that need attention. */
function conditionTable(machine: Machine, now: Date, columns: number): string {
  const rows = badConditionRows(machine).map(({ condition, reason, since, message }) => [
    condition,
    reason,
    formatAge(since, now),
    message,
  ]);
  if (rows.length === 0) return '';
  return `\n${fitTable({ columns: ['condition', 'reason', 'since', 'message'], rows }, columns)}`;
}
