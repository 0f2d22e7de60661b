import { describe, expect, it } from 'vitest';
import {
  readConditions,
  readRuleCondition,
  rulePlace,
} from '../../../../src/agent/detector/config/common.ts';
import { ConfigFields } from '../../../../src/agent/detector/config/fields.ts';
import { DEADLOCK } from '../../../support/agent/detector-config.ts';

describe('common fields', () => {
  it('reads conditions, whose message may be missing', () => {
    const { type, reason } = DEADLOCK;
    const fields = new ConfigFields({ conditions: [{ type, reason }] }, '', ['conditions']);
    expect(readConditions(fields)).toEqual([{ type, reason, message: '' }]);
  });

  it('gives a condition to permanent rules only', () => {
    expect(readRuleCondition(rule('temporary'), [DEADLOCK])).toEqual({});
    expect(readRuleCondition(rule('permanent'), [DEADLOCK])).toEqual({ condition: DEADLOCK.type });
    expect(() => readRuleCondition(rule('permanent'), [])).toThrow('is not in the list of conditions');
  });

  it('names a rule by its reason, where it has one', () => {
    expect([rulePlace({ reason: 'A' }, 1), rulePlace({}, 2), rulePlace(null, 3)]).toEqual([
      'rules[1] (A)',
      'rules[2]',
      'rules[3]',
    ]);
  });
});

function rule(type: string): ConfigFields {
  return new ConfigFields({ type, condition: DEADLOCK.type }, '', ['type', 'condition']);
}
