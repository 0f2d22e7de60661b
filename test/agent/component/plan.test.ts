import { expect, it } from 'vitest';
import type { ComponentInput } from '../../../src/agent/component/input.ts';
import { planComponent } from '../../../src/agent/component/plan.ts';
import { FREE, present } from '../../support/agent/component-driver.ts';
import { componentInput, explainPlan, installed, V1, V2 } from '../../support/agent/component-input.ts';

const [CONFIG] = V1.files.map(({ path }) => path);

/** Version 1.0 is committed, and its file has other content. */
function plan(fields: Partial<ComponentInput>): ReturnType<typeof planComponent> {
  const base = installed(V1);
  const files = [...base.files].map(([path, file]) =>
    path === CONFIG ? ([path, { ...file, content: 'x' }] as const) : ([path, file] as const),
  );
  const observed = { ...base, files: new Map(files) };
  return planComponent(
    componentInput({ desired: present(V1), observed, ...fields }, { current: V1.id, state: 'Committed' }),
  );
}

it.each<[name: string, fields: Partial<ComponentInput>, expected: RegExp, findings: number]>([
  ['keeps the version in force without a transition', {}, /^record Content .*WriteFile/, 1],
  ['begins a transition before it looks at drift', { desired: present(V2) }, /^record Fetching/, 0],
  [
    'keeps the version in force while a transition waits, and tells what that waits for',
    { desired: { state: 'Invalid', message: 'no such field' } },
    /WriteFile .*wait InvalidEntry: no such field$/,
    1,
  ],
  [
    'corrects nothing of a version whose content is not known',
    { desired: { state: 'Orphaned' }, targets: new Map() },
    /^wait Orphaned: /,
    0,
  ],
  ['changes nothing on a machine that is held', { brakes: { ...FREE, hold: 'All' } }, /^nothing$/, 1],
])('planComponent %s', (_, fields, expected, findings) => {
  const found = plan(fields);
  expect(explainPlan(found)).toMatch(expected);
  expect(found.findings).toHaveLength(findings);
});
