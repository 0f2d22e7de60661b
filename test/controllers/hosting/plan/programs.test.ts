import { describe, expect, it } from 'vitest';
import { programsMissing } from '../../../../src/controllers/hosting/plan/programs.ts';
import {
  decisionText,
  ETCD_VERSION,
  hostingInput,
  OLD_VERSION,
  PROGRAMS,
  VERSION,
} from '../../../support/hosting/objects.ts';

const LOADING = { problem: 'they are built', isLoading: true };

describe('the programs that a step needs', () => {
  it.each([
    ['has that version of Kubernetes', PROGRAMS, VERSION, 'nothing'],
    ['has that version of etcd', PROGRAMS, ETCD_VERSION, 'nothing'],
    ['has other versions', PROGRAMS, 'v1.34.1', 'stalled VersionNotAvailable'],
    ['still loads them', LOADING, VERSION, 'wait ProgramsMissing'],
    ['cannot load them', { ...LOADING, isLoading: false }, VERSION, 'stalled ProgramsMissing'],
  ])('are there, or waited for, where hosting %s', (_, programs, needed, expected) => {
    const input = hostingInput({ plane: { programs } });
    expect(decisionText(programsMissing(input, needed) ?? {})).toBe(expected);
  });

  it('names the versions that it has, and both ways on', () => {
    const input = hostingInput({ plane: { programs: PROGRAMS } });
    expect(programsMissing(input, 'v1.34.1', 'etcd')?.wait).toMatchObject({
      message: `this hosting has the programs of ${OLD_VERSION}, ${VERSION}, and not of v1.34.1; set spec.hosted.version to ${OLD_VERSION} or ${VERSION}, or start hosting with --kube-assets and a folder with v1.34.1`,
      blocker: { kind: 'Program', name: 'etcd' },
    });
  });
});
