import { describe, expect, it } from 'vitest';
import { DENIALS } from '../../../src/api/deny-reasons.ts';
import { ruleWaitHint } from '../../../src/views/fleet/rule-wait-hints.ts';

describe('the hint for a rule that waits', () => {
  it.each([
    ['HumanHold', 'kubenode machine release m-1'],
    ['MaxJobs', 'repair the machine, or commit a higher spec.perMachine.maxJobs of rule hang'],
    ['ZoneDark', DENIALS.ZoneDark.hint],
    ['NodeInterval', DENIALS.NodeInterval.hint],
  ])('names what ends %s', (reason, hint) => {
    expect(ruleWaitHint(reason, 'hang', 'm-1')).toBe(hint);
  });

  it.each(['Unheard', 'constructor'])('is missing for the reason %s of another version', (reason) => {
    expect(ruleWaitHint(reason, 'hang', 'm-1')).toBeUndefined();
  });
});
