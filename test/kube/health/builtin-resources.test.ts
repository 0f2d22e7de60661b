import { describe, expect, it } from 'vitest';
import { RULES_OF_RESOURCES } from '../../../src/kube/health/builtin-resources.ts';
import { BUILTIN_KINDS } from '../../sync/health/builtin-kinds-table.ts';

/** The results of the rules are in the table of built-in kinds. */
describe('RULES_OF_RESOURCES', () => {
  it.each(RULES_OF_RESOURCES.map(([kind]) => kind))(
    'S14 has a healthy and another case of %s in the table',
    (kind) => {
      const answers = BUILTIN_KINDS.filter(({ objects: [object] }) => {
        const group = object?.apiVersion.includes('/') ? (object.apiVersion.split('/')[0] ?? '') : '';
        return `${group}/${object?.kind}` === kind;
      }).map(({ answer }) => answer === 'Settled');
      expect(new Set(answers)).toEqual(new Set([true, false]));
    },
  );
});
