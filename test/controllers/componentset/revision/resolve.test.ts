import { describe, expect, it } from 'vitest';
import type { SetComponent } from '../../../../src/api/generated/types.ts';
import {
  type ComponentVersion,
  type ResolvedRevision,
  resolveRevision,
} from '../../../../src/controllers/componentset/revision/resolve.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;

function setComponent(componentRef: string, more: Partial<SetComponent> = {}): SetComponent {
  const [name = ''] = componentRef.split('-');
  return { name, componentRef, state: 'Present', parameters: {}, ...more };
}

function versionOf(component: string, more: Partial<ComponentVersion> = {}): ComponentVersion {
  return { spec: { component, parameters: [] }, digest: DIGEST, ...more };
}

const PROXY = versionOf('proxy', {
  spec: { component: 'proxy', parameters: [{ name: 'level', default: 'info' }, { name: 'mode' }] },
});
const VERSIONS: Readonly<Record<string, ComponentVersion>> = {
  'kubelet-1.34': versionOf('kubelet'),
  'kubelet-wrong': versionOf('containerd'),
  'kubelet-refused': versionOf('kubelet', { refused: 'two files have the same path' }),
  'kubelet-yanked': versionOf('kubelet', { yanked: 'loses pods' }),
  'proxy-1.0': PROXY,
};

function resolve(...components: readonly SetComponent[]): ResolvedRevision {
  return resolveRevision(components, (ref) => VERSIONS[ref]);
}

function nameOf(...components: readonly SetComponent[]): string {
  const resolved = resolve(...components);
  return 'revision' in resolved
    ? resolved.revision.name
    : resolved.problems.map(({ because }) => because).join();
}

const KUBELET = setComponent('kubelet-1.34');
const WITH_LEVEL = setComponent('proxy-1.0', { parameters: { level: 'info', mode: 'x' } });

describe('resolveRevision', () => {
  it('ROL-05 resolves names, digests, states and parameters, and fills in defaults', () => {
    expect(resolve(setComponent('proxy-1.0', { parameters: { mode: 'x' } }), KUBELET)).toEqual({
      revision: {
        name: expect.stringMatching(/^r-[0-9a-f]{8}$/) as unknown,
        components: [
          { name: 'kubelet', componentRef: 'kubelet-1.34', digest: DIGEST, state: 'Present', parameters: {} },
          {
            name: 'proxy',
            componentRef: 'proxy-1.0',
            digest: DIGEST,
            state: 'Present',
            parameters: { level: 'info', mode: 'x' },
          },
        ],
      },
      yanked: [],
    });
  });

  it.each<[what: string, a: readonly SetComponent[], b: readonly SetComponent[]]>([
    ['another order of the components', [KUBELET, WITH_LEVEL], [WITH_LEVEL, KUBELET]],
    [
      'a default that the set repeats',
      [WITH_LEVEL],
      [setComponent('proxy-1.0', { parameters: { mode: 'x' } })],
    ],
    [
      'other parameters of a removal',
      [setComponent('proxy-1.0', { state: 'Absent' })],
      [setComponent('proxy-1.0', { state: 'Absent', parameters: { level: 'debug' } })],
    ],
  ])('ROL-05 is the same revision with %s', (_what, a, b) => {
    expect(nameOf(...a)).toBe(nameOf(...b));
  });

  it.each<[what: string, a: readonly SetComponent[], b: readonly SetComponent[]]>([
    [
      'another parameter',
      [WITH_LEVEL],
      [setComponent('proxy-1.0', { parameters: { level: 'debug', mode: 'x' } })],
    ],
    ['a removal', [KUBELET], [setComponent('kubelet-1.34', { state: 'Absent' })]],
    ['a component less', [KUBELET, WITH_LEVEL], [KUBELET]],
  ])('ROL-05 is another revision with %s', (_what, a, b) => {
    expect(nameOf(...a)).not.toBe(nameOf(...b));
  });

  it('ROL-05 is another revision when the content of a version differs', () => {
    const other = resolveRevision([KUBELET], () =>
      versionOf('kubelet', { digest: `sha256:${'b'.repeat(64)}` }),
    );
    expect(other).not.toEqual(resolve(KUBELET));
    expect('revision' in other && other.revision.name).not.toBe(nameOf(KUBELET));
  });

  it.each<[reason: string, component: SetComponent, because: readonly string[]]>([
    ['ComponentNotFound', setComponent('kubelet-9'), ['kubelet-9 was not found']],
    ['ComponentNotFound', setComponent('kubelet-9', { state: 'Absent' }), ['kubelet-9 was not found']],
    [
      'WrongComponent',
      setComponent('kubelet-wrong'),
      ['kubelet-wrong is a version of containerd, not of kubelet'],
    ],
    [
      'ComponentRefused',
      setComponent('kubelet-refused'),
      ['kubelet-refused is not accepted: two files have the same path'],
    ],
    ['ParameterMissing', setComponent('proxy-1.0'), ['proxy-1.0 needs a value for mode']],
    [
      'ParameterUnknown',
      setComponent('proxy-1.0', { parameters: { mode: 'x', lvl: 'x', a: 'x' } }),
      ['proxy-1.0 has no parameter a', 'proxy-1.0 has no parameter lvl'],
    ],
  ])('refuses with %s and names the MachineComponent', (reason, component, because) => {
    const blocker = { kind: 'MachineComponent', name: component.componentRef };
    expect(resolve(KUBELET, component)).toEqual({
      problems: because.map((each) => ({ reason, because: each, blocker })),
    });
  });

  it('takes nothing from the prototype of an object for a value', () => {
    const spec = { component: 'proxy', parameters: [{ name: 'constructor' }] };
    const resolved = resolveRevision([setComponent('proxy-1.0')], () => versionOf('proxy', { spec }));
    expect('problems' in resolved && resolved.problems.map(({ because }) => because)).toEqual([
      'proxy-1.0 needs a value for constructor',
    ]);
  });

  it('reports all problems at once', () => {
    const resolved = resolve(setComponent('kubelet-9'), setComponent('proxy-1.0'));
    expect('problems' in resolved && resolved.problems.map(({ reason }) => reason)).toEqual([
      'ComponentNotFound',
      'ParameterMissing',
    ]);
  });

  it('names what is yanked: machines that run it keep it', () => {
    expect(resolve(setComponent('kubelet-yanked'), KUBELET)).toMatchObject({
      yanked: [{ reason: 'ComponentYanked', because: 'kubelet-yanked is yanked: loses pods' }],
    });
  });
});
