import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { editLinger, POLICY_FILE } from '../../../../src/demo/tour/steps/freeze.ts';

const POLICY = readFileSync(
  new URL(`../../../../src/demo/template/templates/demo/${POLICY_FILE}`, import.meta.url),
  'utf8',
);

describe('a change that disturbs no machine', () => {
  it('S36 lets grants linger a second longer, each time', () => {
    const once = editLinger(POLICY);
    expect(once).toBe(POLICY.replace('lingerSeconds: 10 ', 'lingerSeconds: 11 '));
    expect(editLinger(once)).toContain('lingerSeconds: 12 ');
  });
});
