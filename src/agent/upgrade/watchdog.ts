/**
 * Runs the watchdog of an upgrade of the agent: a process of its own that runs the old program. It ends when the file of the slots has a
 * verdict. Killed at any line, it continues from that file.
 */

import { optional } from '../../kube/objects/optional.ts';
import { truncate } from '../../kube/objects/truncate.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import { messageOf } from '../../os/errors.ts';
import type { Host } from '../host/port.ts';
import type { TransitionFailure } from '../journal/record.ts';
import { planStartFailure, planUpgrade, type UpgradeAction } from './plan.ts';
import { readProof } from './proof-store.ts';
import type { AgentService } from './service/port.ts';
import { endUpgrade, readSlots, recordUpgrade } from './slot-store.ts';
import type { AgentUpgrade } from './slots.ts';

export interface UpgradeWatchdogOptions {
  readonly host: Pick<Host, 'files'> & { readonly node: Pick<Host['node'], 'bootId'> };
  readonly service: AgentService;
  readonly clock: Clock;
  readonly uptimeMs: () => number;
  readonly log: Log;
}

const POLL_MS = 250;
/** The time to wait after an action that failed, such as a write to a full disk. */
const RETRY_MS = 2000;
const LOG_BYTES = 700;
const MAX_MESSAGE = 1024;

export async function runWatchdog(options: UpgradeWatchdogOptions, signal: AbortSignal): Promise<void> {
  const { host, clock, log } = options;
  while (!signal.aborted) {
    const { upgrade } = await readSlots(host.files);
    if (!upgrade) return;
    const waitMs = await advanceUpgrade(options, upgrade).then(
      (hasActed) => (hasActed ? 0 : POLL_MS),
      (error: unknown) => {
        log.error('upgrade of the agent not advanced', { error });
        return RETRY_MS;
      },
    );
    await clock.sleep(waitMs, signal).catch(() => undefined);
  }
}

/** Carries out one plan, and tells whether anything was done. */
export async function advanceUpgrade(
  { host, service, clock, uptimeMs, log }: UpgradeWatchdogOptions,
  upgrade: AgentUpgrade,
): Promise<boolean> {
  const actions = planUpgrade(upgrade, {
    bootId: await host.node.bootId(),
    uptimeMs: uptimeMs(),
    ...optional('agent', await service.running()),
    ...optional('proof', await readProof(host.files)),
  });
  await carryOut(actions);
  return actions.length > 0;

  async function carryOut(steps: readonly UpgradeAction[]): Promise<void> {
    for (const action of steps) {
      log.info('upgrade of the agent', {
        type: action.type,
        version: upgrade.version,
        because: action.because,
      });
      await act(action);
    }
  }

  async function act(action: UpgradeAction): Promise<void> {
    if (action.type === 'Stop') return await service.stop();
    if (action.type === 'Start') return await start(action.program);
    if (action.type === 'Record') return await recordUpgrade(host.files, await withLog(action.upgrade));
    const { key, version, failure, from, to } = upgrade;
    await endUpgrade(host.files, {
      key,
      version,
      result: action.result,
      program: action.result === 'Committed' ? to : from,
      at: clock.now().toISOString(),
      ...optional('failure', failure),
    });
  }

  async function start(program: string): Promise<void> {
    try {
      await service.start(program);
    } catch (error) {
      await carryOut(planStartFailure(upgrade, messageOf(error)));
      // What follows the start does not happen.
      throw error;
    }
  }

  /** Adds what a failed agent printed last, which explains why it failed. */
  async function withLog(next: AgentUpgrade): Promise<AgentUpgrade> {
    if (!next.failure || upgrade.failure) return next;
    const tail = await service.logTail(LOG_BYTES).catch(() => '');
    return { ...next, failure: withTail(next.failure, tail) };
  }
}

function withTail({ code, message }: TransitionFailure, tail: string): TransitionFailure {
  return { code, message: tail === '' ? message : truncate(`${message}: ${tail.trim()}`, MAX_MESSAGE) };
}
