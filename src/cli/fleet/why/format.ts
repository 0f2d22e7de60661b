/** Prints why acts on a machine happen or do not: the answer first, then what is in the way. Pure. */
import { denialPage } from '../../../api/deny-reasons.ts';
import type { ActVerdict, GrantInTheWay, MachineExplanation, ObjectWait } from '../../../defender/explain.ts';
import { printableLine } from '../../../kube/objects/printable.ts';
import { denialHint, hintBeside } from '../../../views/fleet/unblock.ts';
import { type ProbesView, probesText } from '../../../views/machine/probes.ts';
import { maintenanceWaitText } from '../../../views/maintenance/show.ts';
import type { MaintenanceView } from '../../../views/maintenance/view.ts';
import { formatAge } from '../../../views/text/age.ts';
import type { RuleView } from '../rule-explanation.ts';
import type { AssignmentReason } from './assignments.ts';
import type { PinReason } from './pins.ts';

/** A part that is not known, because the person may not read what it is computed from. */
export interface UnknownPart {
  readonly part: 'acts' | 'rules' | 'held' | 'probes';
  readonly because: string;
}

export interface ExplainedMachine extends MachineExplanation {
  /** The results of probes by its peers, while its agent is silent. */
  readonly probes?: ProbesView;
  /** The reason of each component set that selects the machine, or assigned something to it. */
  readonly rollouts?: readonly AssignmentReason[];
  /** The reason of each version that a person pinned on the machine and that is not in force. */
  readonly pins?: readonly PinReason[];
  /** The view of each rule that found something on the machine, or cannot tell. */
  readonly rules?: readonly RuleView[];
  /** The maintenance that is announced and not over. */
  readonly maintenance?: readonly MaintenanceView[];
  /** Absent: everything is known. */
  readonly unknown?: readonly UnknownPart[];
}

export function formatWhy(why: ExplainedMachine, now: Date): string {
  const lines = [
    headline(why, now),
    '',
    ...section('probes', why.probes ? [probesText(why.probes, now)] : []),
    ...section(
      'rollout',
      (why.rollouts ?? []).flatMap((each) =>
        reasonLines([each.set, each.versions].filter(Boolean).join(' '), each, now),
      ),
    ),
    ...section(
      'pins',
      (why.pins ?? []).flatMap((each) => reasonLines(`${each.component} ${each.componentRef}`, each, now)),
    ),
    ...section('rules', (why.rules ?? []).map(ruleLine)),
    ...section(
      'announced',
      (why.maintenance ?? []).map((each) => maintenanceLine(each, now)),
    ),
    ...section('held', why.holds.map(holdLine)),
    ...section(
      'waits',
      why.waits.flatMap((wait) => waitLines(wait, now)),
    ),
    ...section('act', why.grant ? [grantLine(why.grant, now)] : []),
    ...why.acts.flatMap((act) => actLines(act, { machine: why.machine, now })),
    ...section(
      'unknown',
      (why.unknown ?? []).map(({ because }) => because),
    ),
    ...section(
      'breakers',
      why.breakers.map(
        ({ id, state, since, closesAt, evidence }) =>
          `${id} ${state} for ${formatAge(since, now)}${closesAt ? `, not closed before ${closesAt}` : ''}${evidence ? `: ${evidence}` : ''}`,
      ),
    ),
  ];
  return lines.map((line) => `${printableLine(line).trimEnd()}\n`).join('');
}

function headline(
  { machine, pool, zone, readiness, readinessSince, notes, ledger, factsAgeSeconds }: MachineExplanation,
  now: Date,
): string {
  const place = [pool && `pool ${pool}`, zone && `zone ${zone}`].filter(Boolean).join(' / ');
  const since = readinessSince === undefined ? '' : ` ${formatAge(readinessSince, now)}`;
  const state = [`${readiness}${since}`, ...notes].join(', ');
  const age =
    factsAgeSeconds === undefined ? 'facts incomplete' : `facts ${Math.round(factsAgeSeconds)}s old`;
  const recovering = ledger.recovering ? ', recovering' : '';
  return [machine, place, state, `${age}, ledger seq ${ledger.seq}${recovering}`].filter(Boolean).join('   ');
}

/** Prints the name once, before the first line. */
function section(name: string, lines: readonly string[]): readonly string[] {
  return lines.map((line, index) => `${(index === 0 ? name : '').padEnd(10)}${line}`);
}

function reasonLines(
  what: string,
  { reason, because, since, unblock }: Pick<AssignmentReason, 'reason' | 'because' | 'since' | 'unblock'>,
  now: Date,
): readonly string[] {
  const age = since === undefined ? '' : ` (${formatAge(since, now)})`;
  return [`${what}: ${reason}: ${because}${age}`, ...(unblock === '' ? [] : [`  unblocks: ${unblock}`])];
}

function ruleLine({ rule, mode, outcome, because }: RuleView): string {
  return `${rule}: ${outcome}${mode === 'Enforce' ? '' : ` (mode ${mode})`}: ${because}`;
}

function maintenanceLine(view: MaintenanceView, now: Date): string {
  const { event, type, state, phase, notBefore } = view;
  const begins = notBefore === undefined ? '' : ` from ${notBefore}`;
  const wait = maintenanceWaitText(view, now);
  return `${event}: ${type} ${state}${begins}, ${phase}${wait === '' ? '' : `: ${wait}`}`;
}

function waitLines({ object, reason, since, message, unblock }: ObjectWait, now: Date): readonly string[] {
  const line = `${object}: ${reason}${message ? `: ${message}` : ''} (${formatAge(since, now)})`;
  return unblock === undefined ? [line] : [line, `  unblocks: ${unblock}`];
}

function holdLine({ reason, scope, until }: MachineExplanation['holds'][number]): string {
  return `${scope === 'All' ? 'all automation' : 'disruptive acts'}: ${reason}${until ? ` (until ${until})` : ''}`;
}

function grantLine(
  { machine, action, state, holder, id, issuedAt, notAfter, countsUntil }: GrantInTheWay,
  now: Date,
): string {
  const counts = countsUntil === undefined ? '' : `, counts until ${countsUntil}`;
  const end = state === 'Settled' ? counts : `, ends ${notAfter}`;
  return `${machine}  ${action} ${state}  ${holder.kind} ${holder.name}, granted ${formatAge(issuedAt, now)} ago${end}  [${id}]`;
}

const SHOWN = 5;

function actLines(
  { action, permitted, causes, retryAt, inTheWay }: ActVerdict,
  { machine, now }: { readonly machine: string; readonly now: Date },
): readonly string[] {
  if (permitted) return [`PERMITTED ${action}`];
  const texts = causes.map(
    ({ reason, policy, message, until }) =>
      `${reason}  ${policy ? `${policy}: ` : ''}${message}${until ? ` (until ${until.toISOString()})` : ''}`,
  );
  const [first = '', ...also] = texts;
  return [
    `DENIED    ${action}  ${first}`,
    ...section('  also', also),
    ...inTheWay.slice(0, SHOWN).map((grant) => `          ${grantLine(grant, now)}`),
    ...(inTheWay.length > SHOWN ? [`          and ${inTheWay.length - SHOWN} more`] : []),
    ...section('  retry', retryAt ? [`at ${retryAt.toISOString()}`] : ['when what is named above changes']),
    ...causes
      .slice(0, 1)
      .flatMap(({ reason }) => [
        ...section('  unblock', [hintBeside(machine, denialHint(reason, machine))]),
        ...section('  read', [denialPage(reason)]),
      ]),
  ];
}
