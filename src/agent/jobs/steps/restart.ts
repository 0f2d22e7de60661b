/** Restarting one service at most once: its process before and after tells whether it happened. */
import type { UnitStatus } from '../../host/port.ts';
import {
  failedStep,
  type StepContext,
  type StepEvidence,
  type StepResult,
  succeededStep,
  unitNamed,
} from './executor.ts';

const LOG_BYTES = 1024;
/** The unit had no process. */
const STOPPED = 'stopped';

/** The process and its boot: another boot may give the same numbers again. */
export async function serviceProcess(context: StepContext, service: string): Promise<string> {
  return processText(await readStatus(context, service), await context.host.node.bootId());
}

function processText(status: UnitStatus | undefined, bootId: string): string {
  const { process } = status ?? {};
  return process ? `${bootId} ${process.pid} ${process.startId}` : STOPPED;
}

export async function restartOnce(
  context: StepContext,
  service: string,
  before: string | undefined,
): Promise<StepResult> {
  const { units } = context.host;
  const isOld =
    before !== undefined && before !== STOPPED && before === (await serviceProcess(context, service));
  if (isOld) await units.stop(service);
  const isActive = (await readStatus(context, service))?.active === 'Active';
  if (!isActive) await units.start(service);
  const log = await units.logTail(service, LOG_BYTES);
  const runs = (await readStatus(context, service))?.active === 'Active';
  return runs
    ? succeededStep(`${service} was restarted`, log)
    : failedStep('NotRunning', `${service} does not run after its restart`, log);
}

export async function observeRestart(
  context: StepContext,
  service: string,
  before: string | undefined,
): Promise<StepEvidence> {
  const status = await readStatus(context, service);
  if (!status) {
    return { happened: 'Failed', code: 'UnitNotFound', message: `the host has no unit ${service}` };
  }
  if (status.active !== 'Active') {
    return { happened: 'Partly', message: `${service} is ${status.active}: what is left is its start` };
  }
  const isOld = processText(status, await context.host.node.bootId()) === before;
  return isOld
    ? { happened: 'No', message: `${service} still runs as before: the agent ended before it stopped it` }
    : { happened: 'Yes', message: `${service} runs with another process than before` };
}

async function readStatus({ host }: StepContext, service: string): Promise<UnitStatus | undefined> {
  return await host.units.status(unitNamed(service));
}
