import { describe, expect, it } from 'vitest';
import {
  acceptAncestry,
  acceptContent,
  acceptRenderError,
} from '../../../../src/sync/hub/acceptance/commit-checks.ts';

describe('acceptContent', () => {
  it('reports refused objects as a refused commit', () => {
    const message = 'ConfigMap a: status: set by the server';
    expect(acceptContent({ accepted: false, message })).toEqual({
      accepted: false,
      verdict: 'Refused',
      message,
    });
    const accepted = { accepted: true, because: 'all 3 objects are allowed' } as const;
    expect(acceptContent(accepted)).toEqual(accepted);
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
