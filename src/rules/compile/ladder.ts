/** The repairs: steps that this version can do, in an order that makes sense, each proved, and a person at the end. */
import { AVAILABLE_STEPS, isStep, type Step, stepEntry, stepInputProblems } from '../../api/steps/steps.ts';
import { isRecord, type JsonRecord, listAt, textAt, valueAt } from '../../kube/objects/json.ts';
import type { Tree } from '../compiled-rule.ts';
import { guess, listIn, type Report, recordAt, shown } from '../problems.ts';
import { compileTree } from './tree.ts';

/** Each rung that has to prove something, with what proves it. */
export function compileLadder(report: Report, path: string, written: unknown): ReadonlyMap<string, Tree> {
  const rungs = listIn(report, path, written) ?? [];
  const proofs = rungs.flatMap((rung, index) => compileRung(report, `${path}[${index}]`, rung));
  checkNames(report, path, rungs);
  if (!stepsOf(rungs.at(-1), 'plan').includes('HandOff')) {
    report(path, 'the last rung must hand off to people: give it the step HandOff');
  }
  return new Map(proofs);
}

function compileRung(report: Report, path: string, written: unknown): readonly (readonly [string, Tree])[] {
  const rung = recordAt(report, path, written);
  if (!rung) return [];
  checkSteps(report, `${path}.plan`, valueAt(rung, 'plan'));
  if (Object.hasOwn(rung, 'onVerified')) {
    checkSteps(report, `${path}.onVerified`, valueAt(rung, 'onVerified'));
  }
  checkOrder(report, `${path}.plan`, stepsOf(rung, 'plan'));
  checkReplacement(report, path, rung);
  const proof = compileProof(report, path, rung);
  const name = textAt(rung, 'name');
  if (name === undefined) report(`${path}.name`, 'is required: give the rung a name');
  return proof && name !== undefined ? [[name, proof]] : [];
}

/** Jobs, attempts and what proves a rung go by its name. */
function checkNames(report: Report, path: string, rungs: readonly unknown[]): void {
  const names = rungs.map((rung) => textAt(rung, 'name'));
  for (const [index, name] of names.entries()) {
    if (name === undefined || names.indexOf(name) === index) continue;
    report(`${path}[${index}].name`, `another rung is called ${JSON.stringify(name)} as well`);
  }
}

function compileProof(report: Report, path: string, rung: JsonRecord): Tree | undefined {
  const verify = valueAt(rung, 'verify');
  if (verify === undefined || verify === null) {
    return stepsOf(rung, 'plan').includes('HandOff')
      ? undefined
      : report(
          `${path}.verify`,
          'is required: say what proves that it worked, or hand off with the step HandOff',
        );
  }
  const proof = recordAt(report, `${path}.verify`, verify);
  return proof && compileTree(report, `${path}.verify.conditions`, valueAt(proof, 'conditions'));
}

function checkSteps(report: Report, path: string, written: unknown): void {
  const steps = listIn(report, path, written) ?? [];
  if (path.endsWith('.plan') && steps.length === 0) report(path, 'must have at least one step');
  for (const [index, step] of steps.entries()) checkStep(report, `${path}[${index}]`, step);
}

function checkStep(report: Report, path: string, written: unknown): undefined {
  const step = recordAt(report, path, written);
  const name = step && valueAt(step, 'step');
  if (!step) return undefined;
  if (!isStep(name)) {
    const hint = typeof name === 'string' ? guess(name, AVAILABLE_STEPS) : '';
    return report(
      `${path}.step`,
      `there is no step ${shown(name)}: one of ${AVAILABLE_STEPS.join(', ')}${hint}`,
    );
  }
  if (stepEntry(name).available) {
    checkInput(report, `${path}.with`, name, valueAt(step, 'with'));
  } else {
    report(`${path}.step`, `the step ${name} is not available in this version: hand off to people instead`);
  }
  if (valueAt(step, 'onFailure') === 'Continue' && stepEntry(name).risk !== 'None') {
    const message = `a ${name} that failed has done something: after a disruptive step the plan cannot just go on`;
    return report(`${path}.onFailure`, message);
  }
  return undefined;
}

function checkInput(report: Report, path: string, step: Step, input: unknown): void {
  for (const { path: within, message } of stepInputProblems(step, input ?? {})) {
    report(within === '' ? path : `${path}.${within}`, `step ${step}: ${message}`);
  }
}

function checkOrder(report: Report, path: string, steps: readonly unknown[]): void {
  const drain = steps.indexOf('Drain');
  if (drain < 0 || steps.slice(0, drain).includes('Cordon')) return;
  report(
    `${path}[${drain}]`,
    'a Drain without a Cordon before it fills up again: put the step Cordon before it',
  );
}

function checkReplacement(report: Report, path: string, rung: JsonRecord): void {
  if (!stepsOf(rung, 'plan').includes('ReplaceMachine')) return;
  if (textAt(rung, 'verify', 'target') === 'Replacement') return;
  report(`${path}.verify.target`, 'after ReplaceMachine the old node proves nothing: set it to Replacement');
}

function stepsOf(rung: unknown, list: string): readonly unknown[] {
  return isRecord(rung) ? listAt(rung, list).map((step) => valueAt(step, 'step')) : [];
}
