import { describe, expect, it } from 'vitest';
import { createCommitChecks } from '../../../../src/cli/commands/sync/checks.ts';
import {
  acceptAncestry,
  acceptContent,
  acceptRenderError,
} from '../../../../src/sync/hub/acceptance/commit-checks.ts';
import type { Rendered } from '../../../../src/sync/rendered.ts';

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

describe('acceptContent', () => {
  it('S2 refuses a commit that renders no objects', async () => {
    expect(await acceptContent(rendered(0), createCommitChecks())).toMatchObject({
      accepted: false,
      verdict: 'Refused',
      message: expect.stringContaining('renders no objects') as string,
    });
  });

  it('accepts a commit of which every object is allowed', async () => {
    expect(await acceptContent(rendered(3), createCommitChecks())).toEqual({
      accepted: true,
      because: 'all 3 objects are allowed',
    });
  });
});

describe('acceptAncestry', () => {
  it('holds a head of unknown ancestry like one that does not descend', () => {
    expect(acceptAncestry({ verdict: 'Unknown', because: 'unknown' })).toMatchObject({
      verdict: 'NotDescendant',
    });
    expect(acceptAncestry({ verdict: 'Accepted', because: 'it descends' })).toMatchObject({ accepted: true });
  });
});

describe('acceptRenderError', () => {
  it('reports the message and the hint', () => {
    expect(acceptRenderError({ message: 'line 3', hint: 'fix it' })).toEqual({
      accepted: false,
      verdict: 'RenderFailed',
      message: 'line 3; fix it',
    });
  });
});
