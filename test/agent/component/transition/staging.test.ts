import { describe, expect, it } from 'vitest';
import type { ComponentInput } from '../../../../src/agent/component/input.ts';
import type { Transition } from '../../../../src/agent/journal/record.ts';
import { present } from '../../../support/agent/component-driver.ts';
import { componentInput, explain, installed, V1, V2 } from '../../../support/agent/component-input.ts';
import { agentFile, target } from '../../../support/agent/targets.ts';
import { NOW } from '../../../support/virtual-clock.ts';

const UPGRADE: Transition = {
  step: 'Fetching',
  entry: V2.id,
  direction: 'Forward',
  from: V1.id,
  to: V2.id,
  bootId: 'boot-1',
  boots: 0,
};
const FAILURE = { code: 'Download', message: 'not found', retryAt: new Date(NOW.getTime() + 1000) };

function upgrade(transition: Partial<Transition>, fields: Partial<ComponentInput> = {}): string {
  return explain(
    componentInput(fields, { current: V1.id, state: 'Committed', transition: { ...UPGRADE, ...transition } }),
  );
}

const STAGED = installed(V1, { directories: new Set([V1.directory, V2.directory]) });

describe('what is done before anything stops', () => {
  it.each<[string, Partial<Transition>, Partial<ComponentInput>, string]>([
    [
      'stores the target and downloads',
      { step: 'Fetching' },
      { targets: new Map([[V1.id, V1]]) },
      'StoreTarget, Download, record Verified Forward to 1.1: downloaded',
    ],
    [
      'downloads nothing that is in the cache',
      { step: 'Fetching' },
      { observed: { ...installed(V1), artifacts: new Map([[V2.artifact?.sha256 ?? '', 'Complete']]) } },
      'record Verified Forward to 1.1: downloaded',
    ],
    [
      'verifies a cached artifact again',
      { step: 'Verified' },
      { observed: { ...installed(V1), artifacts: new Map([[V2.artifact?.sha256 ?? '', 'Complete']]) } },
      'VerifyArtifact, record Staged Forward to 1.1: verified',
    ],
    [
      'downloads again when the download is lost',
      { step: 'Verified' },
      {},
      'Download, VerifyArtifact, record Staged Forward to 1.1: verified',
    ],
    ['unpacks before it waits for anything', { step: 'Staged' }, {}, 'Unpack'],
    [
      'backs up what it writes for the first time',
      { step: 'Staged' },
      {
        desired: present(target('1.1', { id: V2.id, files: [agentFile('/etc/new', '')] })),
        targets: new Map([
          [V1.id, V1],
          [V2.id, target('1.1', { id: V2.id, files: [agentFile('/etc/new', '')] })],
        ]),
        observed: STAGED,
      },
      'Backup /etc/new',
    ],
    [
      'stops once it is granted',
      { step: 'Staged' },
      { observed: STAGED },
      'record Stopping Forward to 1.1: granted by grant-1.1',
    ],
    [
      'tries a failed download again later',
      { step: 'Fetching' },
      { failure: FAILURE },
      'wait RetryPending: not found. It is tried again at 2030-01-01T12:00:01.000Z',
    ],
    [
      'tries a failed download again in time',
      { step: 'Fetching' },
      { failure: { ...FAILURE, retryAt: NOW } },
      'Download, record Verified Forward to 1.1: downloaded',
    ],
  ])('%s', (_name, transition, fields, expected) => {
    expect(upgrade(transition, fields)).toBe(expected);
  });
});

describe('a download that goes on beside the loop', () => {
  it.each(['Fetching', 'Verified'] as const)('is waited for in step %s', (step) => {
    expect(upgrade({ step }, { downloading: new Set([V2.artifact?.sha256 ?? '']) })).toBe(
      'wait Downloading: the artifact of proxy-1.1 is being downloaded',
    );
  });
});
