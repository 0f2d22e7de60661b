import { describe, expect, it } from 'vitest';
import { unitRefusals } from '../../../src/sync/judge/unit-refusals.ts';
import { configMap, unit } from '../apply/fixtures.ts';
import { dependentUnit } from '../unit-order/fixtures.ts';

describe('unitRefusals', () => {
  it('S13 refuses a dependency on an unknown unit, and names the file', () => {
    const units = [dependentUnit('web', 'db')];
    expect(unitRefusals({ target: 'test', units, digest: 'sha256:1' })).toEqual([
      {
        target: 'test',
        unit: 'web',
        object: 'unit web',
        source: 'fleet/main.ts:1',
        message:
          'kubenode.dev/depends-on of unit web: no unit "db" is declared for test: use one of web, or declare it',
      },
    ]);
  });

  it.each(['Web', 'a.b', '-a', 'a'.repeat(64)])('refuses the name %s of a unit', (name) => {
    const [refusal] = unitRefusals({ target: 'test', units: [unit(name, [configMap('a')])], digest: 'x' });
    expect(refusal).toMatchObject({
      object: `unit ${name}`,
      message: expect.stringContaining('1 to 63') as string,
    });
  });
});
