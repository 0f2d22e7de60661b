/** Checks the expressions about health of a Pipeline. Pure. */
import type { Problem } from '../../api/validation/validate.ts';
import { listAt, textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { compileExpression } from '../health/expressions/compile.ts';
import { problemText } from '../health/expressions/health-expressions.ts';

const FIELDS = ['healthy', 'failed'] as const;

/** Returns the expressions that cannot be compiled, each with the position of the first character that is wrong. */
export function expressionProblems(pipeline: KubeObject): readonly Problem[] {
  return listAt(pipeline, 'spec', 'healthExpressions').flatMap((entry, index) =>
    FIELDS.flatMap((field) => {
      const text = textAt(entry, field);
      const result = text === undefined ? undefined : compileExpression(text);
      if (result === undefined || 'evaluate' in result) return [];
      return { path: `spec.healthExpressions[${index}].${field}`, message: problemText(result) };
    }),
  );
}
