/**
 * Answers the read commands of the agent from the file that the agent keeps on its host. No npm package is used: the bundle contains this,
 * too.
 */
import { AGENT_COMPONENT } from '../../../agent/layout.ts';
import type { StoredStatus } from '../../../agent/status/publisher.ts';
import { NO_DESIRED_STATE } from '../../../agent/status/report.ts';
import type { AgentSlots, AgentUpgrade, UpgradeVerdict } from '../../../agent/upgrade/slots.ts';
import type { MachineComponentReport } from '../../../api/generated/types.ts';
import { formatAge } from '../../../views/text/age.ts';
import { formatTable, type Table } from '../../../views/text/table.ts';
import { CliError, EXIT, type ExitCode } from '../../errors.ts';
import { type AnsweredStatus, readAgentSlots, readAgentStatus } from './stored-status.ts';

export interface AgentAnswer {
  /** The answer for programs. */
  readonly data: unknown;
  /** The answer for people. */
  readonly text: string;
  readonly exitCode: ExitCode;
}

export async function answerStatus(directory: string | undefined, now: Date): Promise<AgentAnswer> {
  const stored = await readAgentStatus(directory);
  const slots = await readAgentSlots(directory);
  const exitCode = isHealthy(stored) ? EXIT.ok : EXIT.failed;
  const text = `${formatAgentStatus(stored, now)}${formatUpgrade(stored, slots, now)}`;
  return { data: { ...stored, agent: slots }, text, exitCode };
}

export async function answerComponents(directory: string | undefined, now: Date): Promise<AgentAnswer> {
  const { components } = (await readAgentStatus(directory)).status;
  return { data: components, text: formatTable(componentTable(components, now)), exitCode: EXIT.ok };
}

export async function answerWhy(
  name: string,
  directory: string | undefined,
  now: Date,
): Promise<AgentAnswer> {
  const { status } = await readAgentStatus(directory);
  const component = status.components.find((each) => each.name === name);
  if (!component) {
    const known = status.components.map((each) => each.name).join(', ') || 'none';
    throw new CliError(`the machine has no component ${name}`, {
      hint: `known components: ${known}`,
      exitCode: EXIT.badInput,
    });
  }
  const why = { component, drift: status.drift.filter((each) => each.component === name) };
  const text = formatTable({ columns: ['field', 'value'], rows: explain(why, now) });
  return { data: why, text, exitCode: EXIT.ok };
}

/**
 * Tells whether the agent runs, its components are ready and up to date, and no drift is left: like each condition with `-`, DriftDetected
 * is bad when it is True.
 */
function isHealthy({ status, agentRuns }: AnsweredStatus): boolean {
  const conditions = new Map(status.conditions.map((each) => [each.type, each]));
  const drift = conditions.get('DriftDetected');
  const isOpen = drift?.status === 'True' && drift.reason !== 'Corrected';
  return (
    agentRuns &&
    conditions.get('ComponentsReady')?.status === 'True' &&
    conditions.get('UpToDate')?.status === 'True' &&
    !isOpen
  );
}

function formatAgentStatus({ machine, status, jobs = [], ...answer }: AnsweredStatus, now: Date): string {
  const conditions = formatTable({
    columns: ['condition', 'status', 'since', 'reason', 'message'],
    rows: status.conditions.map(({ type, status: value, lastTransitionTime, reason, message }) => [
      type,
      value,
      formatAge(lastTransitionTime, now),
      reason,
      message,
    ]),
    empty: 'no conditions',
  });
  const header = `machine ${machine}, ${stateText(status, answer, now)}\n`;
  const repairs = jobs.length > 0 ? `\n${formatTable(jobTable(jobs, now))}` : '';
  return `${header}\n${formatTable(componentTable(status.components, now))}\n${conditions}${repairs}`;
}

function stateText(
  { conditions }: StoredStatus['status'],
  { online, agentRuns, writtenAt }: Omit<AnsweredStatus, 'machine' | 'status'>,
  now: Date,
): string {
  if (!agentRuns) {
    return `no agent runs here: nothing is enforced, and its last report is from ${formatAge(writtenAt, now)} ago`;
  }
  if (conditions.some(({ reason }) => reason === NO_DESIRED_STATE)) return 'nothing is enforced yet';
  return `API server ${online ? 'online' : 'away: the last accepted state is enforced'}`;
}

/**
 * Formats the upgrade of the agent itself: which program runs, what replaces it, what was denied. Empty for an agent that was never
 * replaced.
 */
function formatUpgrade({ status }: StoredStatus, slots: AgentSlots, now: Date): string {
  const own = status.components.find(({ name }) => name === AGENT_COMPONENT);
  const denied = (own?.deniedDigests ?? []).map((digest) => ['denied', digest]);
  const rows = [...programRows(slots), ...upgradeRows(slots, now), ...denied];
  return rows.length === 0 ? '' : `\n${formatTable({ columns: ['agent', ''], rows })}`;
}

function programRows({ upgrade, last }: AgentSlots): readonly (readonly string[])[] {
  if (upgrade) return [['program', upgrade.step === 'Probation' ? upgrade.to : upgrade.from]];
  return last ? [['program', last.program]] : [];
}

function upgradeRows({ upgrade, last }: AgentSlots, now: Date): readonly (readonly string[])[] {
  return [
    ...(upgrade ? [['upgrade', upgradeText(upgrade)]] : []),
    ...(last ? [['last upgrade', verdictText(last, now)]] : []),
  ];
}

function upgradeText({ version, step, healthyAtMs, failure }: AgentUpgrade): string {
  const health = healthyAtMs === undefined ? 'not healthy yet' : 'healthy';
  return `to version ${version}: ${step}, ${failure?.message ?? health}`;
}

function verdictText({ version, result, at, failure }: UpgradeVerdict, now: Date): string {
  const why = failure ? `: ${failure.message}` : '';
  return `to version ${version}: ${result} ${formatAge(at, now)} ago${why}`;
}

function jobTable(jobs: NonNullable<StoredStatus['jobs']>, now: Date): Table {
  return {
    columns: ['job', 'step', 'action', 'try', 'state', 'since', 'because'],
    rows: jobs.map(({ job, step, action, try: attempt, state, at, finishedAt, code, message }) => [
      job,
      step,
      action,
      String(attempt),
      code === undefined ? state : `${state} ${code}`,
      formatAge(finishedAt ?? at, now),
      message ?? '',
    ]),
  };
}

function componentTable(components: readonly MachineComponentReport[], now: Date): Table {
  return {
    columns: ['component', 'state', 'desired', 'current', 'ready', 'since', 'corrections', 'because'],
    rows: components.map((each) => [
      each.name,
      ...versionTexts(each),
      readyText(each),
      formatAge(each.since, now),
      String(each.corrections ?? 0),
      becauseText(each),
    ]),
    empty: 'no components: the Machine declares none, or was not read yet',
  };
}

function versionTexts({ state, desiredRef, currentRef }: MachineComponentReport): readonly string[] {
  return [state ?? 'Unknown', desiredRef ?? '-', currentRef ?? '-'];
}

function becauseText({ waiting, error }: MachineComponentReport): string {
  return waiting?.message ?? error?.message ?? '';
}

function readyText({ running, ready }: MachineComponentReport): string {
  if (running === undefined) return '-';
  if (!running) return 'stopped';
  return ready === undefined ? 'unknown' : ready ? 'yes' : 'no';
}

interface Explanation {
  readonly component: MachineComponentReport;
  readonly drift: StoredStatus['status']['drift'];
}

function explain({ component, drift }: Explanation, now: Date): readonly (readonly string[])[] {
  const { state = 'Unknown', since, waiting, error, deniedDigests = [] } = component;
  return [
    ['state', `${state} since ${formatAge(since, now)}`],
    ['desired', component.desiredRef ?? '-'],
    ['current', component.currentRef ?? '-'],
    ['previous', component.previousRef ?? '-'],
    ['ready', readyText(component)],
    ...(waiting
      ? [['waits', `${waiting.reason}: ${waiting.message} (${formatAge(waiting.since, now)})`]]
      : []),
    ...(error ? [['error', `${error.code}: ${error.message}`]] : []),
    ...deniedDigests.map((digest) => ['denied', digest]),
    ...drift.map(({ kind, path, action, at }) => [
      'drift',
      `${action} ${kind} ${path} ${formatAge(at, now)}`,
    ]),
  ];
}
