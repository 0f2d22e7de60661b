import { describe, expect, it } from 'vitest';
import type { HeadReport } from '../../../src/sync/commits.ts';
import { renderingWait, sourceFindings, sourceProblem } from '../../../src/sync/promote/source-findings.ts';

const HUB = { state: 'Held', reason: 'DeletesHeld', message: 'too many' } as const;

function summarize(head: HeadReport): string {
  return sourceFindings(head)
    .map(({ type, status, reason }) => `${type}=${status}/${reason}`)
    .join(' ');
}

describe('sourceProblem', () => {
  it.each<[head: HeadReport, because: string | undefined]>([
    [{ verdict: 'Accepted' }, undefined],
    [{ verdict: 'Accepted', unread: 'refused' }, 'refused'],
    [{ verdict: 'Accepted', unopened: { reason: 'Unsupported', message: 'no' }, unread: 'refused' }, 'no'],
    [{ verdict: 'Refused', message: 'why', unread: 'refused' }, 'why'],
    [{ verdict: 'Refused' }, 'Refused'],
    [{ verdict: 'Accepted', hub: HUB }, "the hub's own objects: too many"],
    [{ verdict: 'Rendering', commit: 'c1', hub: HUB }, 'commit c1 is being rendered and checked'],
    [{ verdict: 'Rendering', commit: 'c1', unread: 'refused' }, 'refused'],
  ])('explains %j', (head, because) => {
    expect(sourceProblem(head)?.because).toBe(because);
  });
});

describe('sourceFindings', () => {
  it.each<[head: HeadReport, findings: string]>([
    [{ verdict: 'Accepted' }, 'SourceReady=True/Accepted Rendered=True/Rendered'],
    [{ verdict: 'Rendering' }, 'SourceReady=True/Rendering Rendered=Unknown/Rendering'],
    [{ verdict: 'Rendering', unread: 'x' }, 'SourceReady=Unknown/Stale Rendered=Unknown/Rendering'],
    [{ verdict: 'RenderFailed' }, 'SourceReady=True/Accepted Rendered=False/RenderFailed'],
    [{ verdict: 'NotDescendant' }, 'SourceReady=False/NotDescendant'],
    [{ verdict: 'Accepted', unopened: { reason: 'Bad', message: 'm' } }, 'SourceReady=False/Bad'],
  ])('writes the conditions of %j', (head, findings) => {
    expect(summarize(head)).toBe(findings);
  });
});

describe('renderingWait', () => {
  it('ends with the render, and while the repository cannot be read or opened', () => {
    expect(renderingWait({ verdict: 'Rendering' })?.reason).toBe('Rendering');
    expect(renderingWait({ verdict: 'Accepted' })).toBeUndefined();
    expect(renderingWait({ verdict: 'Rendering', unread: 'refused' })).toBeUndefined();
    expect(
      renderingWait({ verdict: 'Rendering', unopened: { reason: 'Bad', message: 'm' } }),
    ).toBeUndefined();
  });
});
