import { describe, expect, it } from 'vitest';
import type { MachineComponent } from '../../../../src/api/generated/types.ts';
import { createClassOf } from '../../../../src/controllers/componentset/observe/classes.ts';
import { member, NEW, OLD } from '../rollout/rollout-input.ts';

function version(content: string, onChange: string): MachineComponent {
  const units = [{ name: 'app', type: 'Process', running: true }];
  const files = [{ path: '/etc/app', content, onChange, units: [] }];
  const activation = { class: 'Restart' };
  const spec = {
    component: 'app',
    version: content,
    parameters: [],
    ports: [],
    artifacts: [],
    files,
    units,
    activation,
  };
  return { spec } as unknown as MachineComponent;
}

const VERSIONS = new Map([
  ['app-1', version('1', 'Restart')],
  ['app-2', version('2', 'Restart')],
  ['app-3', version('3', 'Drain')],
]);
const classOf = createClassOf((ref) => VERSIONS.get(ref));

function reporting(currentRef: string | undefined): ReturnType<typeof member> {
  const found = member('m-1');
  const components = currentRef === undefined ? [] : [{ name: 'app', currentRef }];
  return { ...found, machine: { ...found.machine, status: { conditions: [], components } } };
}

describe('createClassOf', () => {
  it('ROL-50 compares what is assigned with what the revision asks for', () => {
    expect(classOf(reporting('app-1'), NEW)).toBe('Restart');
    expect(classOf(reporting('app-1'), OLD)).toBe('None');
  });

  it('ROL-50 takes the worse change where the agent has another version than the one that is assigned', () => {
    expect(
      createClassOf((ref) => (ref === 'app-9' ? undefined : VERSIONS.get(ref)))(reporting('app-9'), NEW),
    ).toBe('Drain');
    expect(classOf(reporting('app-2'), OLD)).toBe('Restart');
  });

  it('ROL-50 disturbs nothing where the component was never installed', () => {
    expect(classOf({ ...reporting(undefined), machine: member('m-2', { at: 'None' }).machine }, NEW)).toBe(
      'None',
    );
  });

  it('ROL-50 leaves pins out of the change', () => {
    expect(classOf({ ...reporting('app-1'), pinned: ['app'] }, NEW)).toBe('None');
  });
});
