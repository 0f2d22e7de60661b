import { describe, expect, it } from 'vitest';
import { exposureNotes } from '../../../src/cli/plan/exposure-notes.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';

const HOST = 'ci.example.com';
const USERS = 'machines that joined with the former address';
const LOST = `${USERS} lose their API server, and join again with another one`;
const NO_OUTAGE = 'its members go on, and only our own controllers are started again';

function cluster(exposure: object, parts: object = {}): KubeObject {
  const spec = { environment: 'test', hosted: { driver: 'process', version: 'v1.36.3', exposure, ...parts } };
  return { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Cluster', metadata: { name: 'ci' }, spec };
}

describe('what plan shows of the address for other machines', () => {
  it.each<[name: string, before: object, after: object, expected: readonly string[]]>([
    ['stays loopback', { port: 7443 }, {}, []],
    ['stays, in another case', { host: HOST, port: 6443 }, { host: 'CI.example.com' }, []],
    [
      'is new',
      {},
      { host: HOST, port: 7443 },
      [
        'other machines reach its API server at https://ci.example.com:7443: gateways listen on all addresses of the machine that hosts it; its members go on, and only our own controllers are started again',
      ],
    ],
    [
      'is another one',
      { host: HOST },
      { host: '2001:db8::10' },
      [
        `other machines reach its API server at https://[2001:db8::10]:6443: ${NO_OUTAGE}; https://ci.example.com:6443 works until its certificate is renewed: ${USERS} join again before that`,
      ],
    ],
    [
      'has another port',
      { host: HOST },
      { host: HOST, port: 7443 },
      [
        `other machines reach its API server at https://ci.example.com:7443, and not at https://ci.example.com:6443: ${NO_OUTAGE}; every connection of other machines ends, and ${USERS} join again with another one`,
      ],
    ],
    [
      'is refused',
      { host: HOST },
      { host: '0.0.0.0' },
      [expect.stringMatching(/^spec.hosted.exposure.host "0.0.0.0" is refused, .*: clients cannot connect/)],
    ],
    ['is empty', {}, { host: '' }, [expect.stringMatching(/^spec.hosted.exposure.host "" is refused/)]],
    ['was refused, and is', { host: '1.2.3' }, { host: '1.2.3' }, []],
    [
      'was refused',
      { host: '1.2.3' },
      { host: HOST },
      [
        expect.stringMatching(
          /^other machines reach its API server at https:..ci.example.com:6443: gateways/,
        ),
      ],
    ],
    [
      'is removed',
      { host: HOST },
      {},
      [`other machines reach its API server at https://ci.example.com:6443 no more: ${LOST}`],
    ],
  ])('HOS-15 shows the address for other machines when it %s', (_, before, after, expected) => {
    const notes = exposureNotes(cluster(before), cluster(after));
    expect(notes.filter((note) => !note.startsWith('the Service'))).toEqual(expected);
  });

  it('HOS-15 tells whether pods reach it by the Service kubernetes', () => {
    const notes = (host: string): readonly string[] => exposureNotes(cluster({}), cluster({ host }));
    expect(notes('192.0.2.10').at(-1)).toBe('the Service kubernetes has the endpoint 192.0.2.10:6443');
    for (const host of [HOST, '2001:db8::10']) expect(notes(host).at(-1)).toContain('has no endpoint');
    expect(exposureNotes(cluster({ host: HOST }), cluster({}))).toHaveLength(1);
  });

  it('HOS-15 with the number of Machines of the last status in the hub, and not of pods', () => {
    const before = { ...cluster({ host: HOST }), status: { machines: { total: 3 } } };
    expect(exposureNotes(before, cluster({}))[0]).toContain(
      'the former address, of 3 Machines that it has, lose',
    );
    const pods = { driver: 'workload' };
    expect(exposureNotes(cluster({ host: HOST }, pods), cluster({}, pods))).toEqual([]);
  });
});
