import { describe, expect, it } from 'vitest';
import { createCommitChecks } from '../../../src/cli/checks/commit-checks.ts';
import { judgeContent } from '../../../src/sync/judge/content.ts';
import { MAX_REFUSALS, type ObjectChecks } from '../../../src/sync/judge/object-checks.ts';
import type { Rendered } from '../../../src/sync/rendered.ts';

function rendered(count: number): Rendered {
  const objects = Array.from({ length: count }, (_, index) => ({
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `c${index}` } },
    source: { file: `a.yaml:${index}` },
  }));
  return {
    commit: 'a',
    targets: [{ target: 'test', units: [{ unit: 'web', objects, digest: '' }], digest: '' }],
  };
}

describe('judgeContent', () => {
  it('S2 refuses a commit that renders no objects', async () => {
    expect(await judgeContent(rendered(0), createCommitChecks())).toMatchObject({
      accepted: false,
      message: expect.stringContaining('renders no objects') as string,
    });
  });

  it('accepts a commit of which every object is allowed', async () => {
    expect(await judgeContent(rendered(3), createCommitChecks())).toEqual({
      accepted: true,
      because: 'all 3 objects are allowed',
    });
  });

  it('SAF-5 names the first problems of a commit that has more than anyone reads, each shortened, and ends there', async () => {
    const checked: string[] = [];
    const checks: ObjectChecks = {
      schema({ metadata }) {
        checked.push(metadata.name);
        return Array.from({ length: 40 }, (_, index) => ({
          path: `spec.x${index}`,
          message: 'x'.repeat(5000),
        }));
      },
      ruleTests: async () => [],
    };
    const verdict = await judgeContent(rendered(5000), checks);
    const message = verdict.accepted ? '' : verdict.message;
    expect(message).toMatch(/^ConfigMap c0 of test: spec\.x0: x+…; ConfigMap c0 of test: spec\.x1: x+…; /);
    expect(message).toMatch(/; and more than 9995 more$/);
    expect(message.length).toBeLessThan(6000);
    expect(checked).toHaveLength(MAX_REFUSALS / 40);
  });
});
