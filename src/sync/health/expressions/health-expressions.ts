/**
 * Judges objects of foreign kinds by the expressions of a Pipeline. They only add to the rules of the kind: an object is healthy if both
 * find it so, and a commit cannot make its own objects healthier. Pure.
 */
import type { HealthExpression } from '../../../api/generated/types.ts';
import { failed, type HealthFinding, progressing } from '../../../kube/health/finding.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { groupOf } from '../../../kube/objects/object-id.ts';
import { compileExpression, type Expression } from './compile.ts';
import type { ExpressionProblem } from './cost.ts';

export interface HealthExpressions {
  /** Returns the finding about an object of which its controller has observed the generation. */
  finding(object: KubeObject, byRules: HealthFinding): HealthFinding;
}

interface CompiledExpressions {
  readonly healthy: Expression;
  readonly failed: Expression | undefined;
  readonly texts: HealthExpression;
}

export function createHealthExpressions(declared: readonly HealthExpression[]): HealthExpressions {
  const byKind = new Map(declared.map((each) => [`${each.group}/${each.kind}`, compiled(each)]));
  // An object of the cache is replaced, never changed.
  const known = new WeakMap<KubeObject, HealthFinding>();
  return {
    finding(object, byRules) {
      const expressions = byKind.get(`${groupOf(object.apiVersion)}/${object.kind}`);
      if (!expressions || byRules.state === 'failed') return byRules;
      const found = known.get(object) ?? findingBy(expressions, object, byRules);
      known.set(object, found);
      return found;
    },
  };
}

function compiled(texts: HealthExpression): CompiledExpressions {
  const failedText = texts.failed;
  return {
    healthy: usable(texts.healthy),
    failed: failedText === undefined ? undefined : usable(failedText),
    texts,
  };
}

/** An expression that was applied past the checks of a commit, and cannot be compiled, finds nothing healthy. */
function usable(text: string): Expression {
  const result = compileExpression(text);
  return 'evaluate' in result ? result : { evaluate: () => ({ because: problemText(result) }) };
}

export function problemText({ message, position }: ExpressionProblem): string {
  return `at character ${position + 1}: ${message}`;
}

function findingBy(
  { healthy, failed: failing, texts }: CompiledExpressions,
  object: KubeObject,
  byRules: HealthFinding,
): HealthFinding {
  if (failing?.evaluate(object) === true) {
    return failed('ExpressionFailed', `${shorten(texts.failed)} is true`);
  }
  if (byRules.state !== 'healthy') return byRules;
  const answer = healthy.evaluate(object);
  if (answer === true) return byRules;
  const because = answer === false ? 'is false' : `has no result: ${answer.because}`;
  return progressing('ExpressionNotTrue', `${shorten(texts.healthy)} ${because}`);
}

const MAX_SHOWN = 120;

function shorten(text = ''): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
