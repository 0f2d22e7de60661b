/** Carries out the steps of hosting for etcd on a driver, as the controller does, and tells where they end. */
import { expect } from 'vitest';
import { hostingConditions, unobservedConditions } from '../../../../src/controllers/hosting/conditions.ts';
import type { PlaneDriver, PlaneSpec } from '../../../../src/controllers/hosting/drivers/driver.ts';
import { blockedBy } from '../../../../src/controllers/hosting/execute/execute.ts';
import type {
  HostingDecision,
  HostingInput,
  HostingWait,
} from '../../../../src/controllers/hosting/plan/input.ts';
import { planHosting } from '../../../../src/controllers/hosting/plan/plan.ts';
import type { ConditionUpdate } from '../../../../src/kube/objects/conditions.ts';
import { memoryLog } from '../../memory-log.ts';
import { decisionText, hostingInput, type InputParts } from '../objects.ts';

export const ANSWER = { interval: 100 };
const { signal } = new AbortController();

/** Resolves to the end of the steps: `PortInUse of 127.0.0.1:1: …` when a person is needed, or the act that is not one of etcd. */
export async function endOf(driver: PlaneDriver, plane: PlaneSpec, parts: InputParts = {}): Promise<string> {
  let end = '';
  const next = async (): Promise<string> => {
    end = await step(driver, plane, parts);
    return end;
  };
  await expect.poll(next, ANSWER).not.toMatch(GOES_ON);
  return end;
}

const GOES_ON = /^goes on: /;

async function step(driver: PlaneDriver, plane: PlaneSpec, parts: InputParts): Promise<string> {
  const log = memoryLog();
  let input: HostingInput;
  try {
    const report = await driver.observe(plane, signal);
    input = hostingInput({ ...parts, name: plane.name, plane: report });
  } catch (error) {
    const wait = blockedBy(error, 'Observe', { log });
    return stalledText(unobservedConditions(hostingInput(parts), wait), wait);
  }
  const decision = planHosting(input);
  const wait = (await carryOut(decision, driver, plane)) ?? decision.wait;
  if (wait?.isStalled) return stalledText(hostingConditions(input, wait), wait);
  return `${isOfEtcd(decision) ? 'goes on: ' : ''}${decisionText(decision)}`;
}

function isOfEtcd({ act, wait }: HostingDecision): boolean {
  if (wait || !act) return wait !== undefined;
  return 'member' in act ? act.member === 'etcd' : ['Prepare', 'RecordLocation'].includes(act.type);
}

async function carryOut(
  decision: HostingDecision,
  driver: PlaneDriver,
  plane: PlaneSpec,
): Promise<HostingWait | undefined> {
  const { act } = decision;
  if (!act || !isOfEtcd(decision)) return undefined;
  try {
    if (act.type === 'Prepare') await driver.prepare(plane);
    if (act.type === 'Start') await driver.start(plane, 'etcd');
    if (act.type === 'Stop') await driver.stop(plane, 'etcd');
    return undefined;
  } catch (error) {
    return blockedBy(error, act.type, { log: memoryLog() });
  }
}

/** As the condition ControlPlaneStalled has it. */
function stalledText(conditions: readonly ConditionUpdate[], { reason }: HostingWait): string {
  const stalled = conditions.find(({ type }) => type === 'ControlPlaneStalled');
  return `${stalled?.status} ${reason} of ${stalled?.message}`;
}
