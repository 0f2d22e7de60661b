/** Judges a host by what its preflight has read. Pure: the same facts always give the same report. */
import type { CheckState, PreflightCheck, PreflightInput, Verdict } from './check.ts';
import { NETWORK_CHECKS } from './checks/network.ts';
import { NODE_CHECKS } from './checks/node.ts';
import { RESOURCE_CHECKS } from './checks/resources.ts';
import { SYSTEM_CHECKS } from './checks/system.ts';

export interface CheckResult extends Verdict {
  readonly check: string;
}

const CHECKS: Readonly<Record<string, PreflightCheck>> = {
  ...SYSTEM_CHECKS,
  ...RESOURCE_CHECKS,
  ...NETWORK_CHECKS,
  ...NODE_CHECKS,
};

/** The names of all checks, in the order of the report. Machine.spec.import.skipChecks takes them. */
export const CHECK_NAMES: readonly string[] = Object.keys(CHECKS);

export function evaluatePreflight(
  input: PreflightInput,
  skipped: readonly string[] = [],
): readonly CheckResult[] {
  return Object.entries(CHECKS)
    .filter(([check]) => !skipped.includes(check))
    .map(([check, decide]) => ({ check, ...decide(input) }));
}

export function hasState(results: readonly CheckResult[], state: CheckState): boolean {
  return results.some((result) => result.state === state);
}
