/** Compiles the ladder: known steps in a safe order, a proof for each rung, and a hand-off to people at the end. */
import { isStep, STEPS, type Step, stepEntry, stepInputProblems } from '../../api/steps/steps.ts';
import { isRecord, type JsonRecord, listAt, textAt, valueAt } from '../../kube/objects/json.ts';
import type { ConditionTree } from '../compiled-rule.ts';
import { formatValue, type ReportProblem, readArray, readObject, suggestName } from '../problems.ts';
import { compileTree } from './tree.ts';

/** The conditions that prove the success of a rung, by its name. */
export function compileLadder(
  report: ReportProblem,
  path: string,
  written: unknown,
): ReadonlyMap<string, ConditionTree> {
  const rungs = readArray(report, path, written) ?? [];
  const proofs = rungs.flatMap((rung, index) => compileRung(report, `${path}[${index}]`, rung));
  checkNames(report, path, rungs);
  if (!stepsOf(rungs.at(-1), 'plan').includes('HandOff')) {
    report(path, 'the last rung must hand off to people: add the step HandOff');
  }
  return new Map(proofs);
}

function compileRung(
  report: ReportProblem,
  path: string,
  written: unknown,
): readonly (readonly [string, ConditionTree])[] {
  const rung = readObject(report, path, written);
  if (!rung) return [];
  checkSteps(report, `${path}.plan`, valueAt(rung, 'plan'));
  if (Object.hasOwn(rung, 'onVerified')) {
    checkSteps(report, `${path}.onVerified`, valueAt(rung, 'onVerified'));
  }
  checkOrder(report, `${path}.plan`, stepsOf(rung, 'plan'));
  checkPower(report, `${path}.plan`, listAt(rung, 'plan'));
  checkReplacement(report, path, rung);
  const proof = compileProof(report, path, rung);
  const name = textAt(rung, 'name');
  if (name === undefined) report(`${path}.name`, 'is required: add a name');
  return proof && name !== undefined ? [[name, proof]] : [];
}

/** Jobs, attempts and proofs refer to rungs by name. */
function checkNames(report: ReportProblem, path: string, rungs: readonly unknown[]): void {
  const names = rungs.map((rung) => textAt(rung, 'name'));
  for (const [index, name] of names.entries()) {
    if (name === undefined || names.indexOf(name) === index) continue;
    report(`${path}[${index}].name`, `duplicate rung name ${JSON.stringify(name)}`);
  }
}

function compileProof(report: ReportProblem, path: string, rung: JsonRecord): ConditionTree | undefined {
  const verify = valueAt(rung, 'verify');
  if (verify === undefined || verify === null) {
    return stepsOf(rung, 'plan').includes('HandOff')
      ? undefined
      : report(
          `${path}.verify`,
          'is required: add conditions that prove success, or hand off with the step HandOff',
        );
  }
  const proof = readObject(report, `${path}.verify`, verify);
  return proof && compileTree(report, `${path}.verify.conditions`, valueAt(proof, 'conditions'));
}

function checkSteps(report: ReportProblem, path: string, written: unknown): void {
  const steps = readArray(report, path, written) ?? [];
  if (path.endsWith('.plan') && steps.length === 0) report(path, 'must have at least one step');
  for (const [index, step] of steps.entries()) checkStep(report, `${path}[${index}]`, step);
}

function checkStep(report: ReportProblem, path: string, written: unknown): undefined {
  const step = readObject(report, path, written);
  const name = step && valueAt(step, 'step');
  if (!step) return undefined;
  if (!isStep(name)) return reportUnknownStep(report, `${path}.step`, name);
  checkInput(report, `${path}.with`, name, valueAt(step, 'with'));
  if (valueAt(step, 'onFailure') === 'Continue' && stepEntry(name).risk !== 'None') {
    const message = `Continue is not allowed for the disruptive step ${name}: it can take effect even if it fails`;
    return report(`${path}.onFailure`, message);
  }
  return undefined;
}

function reportUnknownStep(report: ReportProblem, path: string, name: unknown): undefined {
  const known = STEPS.join(', ');
  if (name === undefined) return report(path, `is required: use one of ${known}`);
  const hint = typeof name === 'string' ? suggestName(name, STEPS) : '';
  return report(path, `unknown step ${formatValue(name)}: use one of ${known}${hint}`);
}

function checkInput(report: ReportProblem, path: string, step: Step, input: unknown): void {
  for (const { path: within, message } of stepInputProblems(step, input ?? {})) {
    report(within === '' ? path : `${path}.${within}`, `step ${step}: ${message}`);
  }
}

/** The steps that empty the node or need it empty. */
const NEEDS_CORDON: readonly unknown[] = ['Drain', 'ResetGPU'];

function checkOrder(report: ReportProblem, path: string, steps: readonly unknown[]): void {
  const first = steps.findIndex((step) => NEEDS_CORDON.includes(step));
  if (first < 0 || steps.slice(0, first).includes('Cordon')) return;
  const message = `${String(steps[first])} without Cordon lets new Pods start`;
  report(`${path}[${first}]`, `${message}: add the step Cordon before it`);
}

/** Checks that a step finds the power that it needs, and that the agent is asked before the switch. */
function checkPower(report: ReportProblem, path: string, steps: readonly unknown[]): void {
  const names = steps.map((step) => (isRecord(step) ? valueAt(step, 'step') : undefined));
  for (const [index, name] of names.entries()) {
    const before = names.slice(0, index);
    const isOff = before.lastIndexOf('PowerOff') > before.lastIndexOf('PowerOn');
    if (name === 'OutOfServiceTaint' && !isOff) {
      const message = 'OutOfServiceTaint on a machine that may run lets two write to one volume';
      report(`${path}[${index}]`, `${message}: add the step PowerOff before it`);
    }
    if (name === 'PowerOn' && !isOff) {
      report(
        `${path}[${index}]`,
        'PowerOn is for what this plan has switched off: add the step PowerOff before it',
      );
    }
    if (name === 'Reboot') {
      checkWays(report, `${path}[${index}].with.via`, listAt(steps[index], 'with', 'via'));
    }
  }
}

const SWITCHES: readonly unknown[] = ['Provider', 'BMC'];

/** An agent that answers reboots the host in order; a switch does not. */
function checkWays(report: ReportProblem, path: string, ways: readonly unknown[]): void {
  const first = ways.findIndex((way) => SWITCHES.includes(way));
  const late = ways.findIndex((way, index) => first >= 0 && index > first && !SWITCHES.includes(way));
  if (late < 0) return;
  report(
    `${path}[${late}]`,
    `the agent is asked before the power is switched: move ${String(ways[late])} before ${String(ways[first])}`,
  );
}

function checkReplacement(report: ReportProblem, path: string, rung: JsonRecord): void {
  const steps = stepsOf(rung, 'plan');
  const isReplacement = textAt(rung, 'verify', 'target') === 'Replacement';
  if (!steps.includes('ReplaceMachine')) {
    if (isReplacement) {
      report(
        `${path}.verify.target`,
        'Replacement needs the step ReplaceMachine: add it, or set target to Node',
      );
    }
    return;
  }
  if (isReplacement) return;
  report(
    `${path}.verify.target`,
    'the old node cannot prove the success of ReplaceMachine: set target to Replacement',
  );
}

function stepsOf(rung: unknown, list: string): readonly unknown[] {
  return isRecord(rung) ? listAt(rung, list).map((step) => valueAt(step, 'step')) : [];
}
