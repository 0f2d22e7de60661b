import { describe, expect, it } from 'vitest';
import type { Preview, PreviewChange, TargetPreview } from '../../../src/sync/preview/preview.ts';
import { commentMarker, pullComment } from '../../../src/sync/pulls/comment.ts';
import type { HeadPlan } from '../../../src/sync/pulls/head-plan.ts';

const [BASE, HEAD] = ['b'.repeat(40), 'a'.repeat(40)];
const DIGEST = `sha256:${'1'.repeat(64)}`;
const INPUT = { marker: '<!-- m -->', pipeline: 'fleet', head: HEAD, base: BASE };

const change = (action: PreviewChange['action'], details: readonly string[] = []): PreviewChange => ({
  action,
  object: 'ConfigMap settings',
  details,
});
const target = (name: string, more: Partial<TargetPreview> = {}): TargetPreview => ({
  target: name,
  by: 'live',
  units: [{ unit: 'web', changes: [change('update', ['data.a: "1" → "2"'])] }],
  ...more,
});

function planned(preview: Partial<Preview> = {}, more: object = {}): HeadPlan {
  const whole = { from: 'x', to: 'y', targets: [target('test')], refusals: [], digest: DIGEST, ...preview };
  return { outcome: 'Planned', isBehind: false, notes: [], preview: whole, ...more };
}

const commentOn = (plan: HeadPlan) => pullComment({ ...INPUT, plan });

describe('S22 the comment on a pull request', () => {
  it('begins with the marker, and names commits, changes and the digest of the plan', () => {
    const { body, ...status } = commentOn(planned());
    expect(body.split('\n').slice(0, 4)).toEqual([
      '<!-- m -->',
      '### kubenode plan of fleet: 1 of 1 targets change; 1 update',
      '',
      `\`${BASE}\` → \`${HEAD}\``,
    ]);
    expect(body).toContain('| test | 1 update, checked in the cluster | web |');
    expect(body).toContain('data.a: "1" → "2"');
    expect(body).toContain(`plan \`${DIGEST}\``);
    const message = '1 of 1 targets change; 1 update';
    expect(status).toEqual({ planDigest: DIGEST, state: 'Succeeded', message, isPartial: false });
  });

  it.each<[name: string, preview: Partial<Preview>, state: string, message: string]>([
    ['nothing changes', { targets: [] }, 'Succeeded', '0 of 0 targets change'],
    [
      'a unit would be held',
      {
        targets: [
          target('test', {
            units: [{ unit: 'web', changes: [], hold: { planDigest: DIGEST, because: 'x' } }],
          }),
        ],
      },
      'Failed',
      '1 units would be HELD',
    ],
    [
      'a server refuses an object',
      { targets: [target('test', { units: [{ unit: 'web', changes: [change('refused')] }] })] },
      'Failed',
      '1 refused',
    ],
    [
      'a cluster does not answer',
      { targets: [target('c', { by: 'unknown', units: [] })] },
      'Succeeded',
      '1 unknown',
    ],
  ])('has a status for a plan in which %s', (_, preview, state, message) => {
    expect(commentOn(planned(preview))).toMatchObject({
      state,
      message: expect.stringContaining(message) as unknown,
    });
  });

  it('is incomplete while a cluster does not answer', () => {
    const targets = [target('lost', { by: 'unknown', units: [], because: 'no answer' })];
    const { body, isPartial } = commentOn(planned({ targets }));
    expect(isPartial).toBe(true);
    expect(body).toContain('| lost | unknown (no answer) | – |');
  });

  it('tells when the branch lacks what was merged, and what is closed now', () => {
    const note = 'Pipeline fleet: stage prod takes no commit until Monday @all';
    const { body } = commentOn(planned({}, { isBehind: true, notes: [note] }));
    expect(body).toContain(`- the branch does not contain ${BASE}: what was merged since`);
    expect(body).toContain('- Pipeline fleet: stage prod takes no commit until Monday');
    // What a branch contains notifies no person.
    expect(body).not.toContain('@all');
    expect(commentOn(planned()).body).not.toContain('does not contain');
  });

  it('tells why a commit is refused, as one line without markup', () => {
    const message = 'fleet/main.ts:3 <b>broken</b> @all\n/close\n| a |';
    const { body, ...status } = commentOn({ outcome: 'Refused', message });
    expect(status.state).toBe('Failed');
    expect(status.message).toContain('REFUSED: fleet/main.ts:3');
    expect(body.split('\n').filter((line) => line.startsWith('/'))).toEqual([]);
    expect(body).not.toMatch(/<b>|@all/);
    const long = commentOn({ outcome: 'Refused', message: 'x'.repeat(100_000) });
    expect([long.body.length < 5000, long.message.length]).toEqual([true, 140]);
  });

  it('fits into a comment of every host, however large the plan is', () => {
    const details = Array.from({ length: 12 }, (_, line) => `spec.field${line}: ${'é'.repeat(200)}`);
    const changes = Array.from({ length: 200 }, () => change('update', details));
    const targets = Array.from({ length: 500 }, (_, index) =>
      target(`cluster-${index}`, { units: [{ unit: 'web', changes }] }),
    );
    const { body } = commentOn(planned({ targets }));
    expect(Buffer.byteLength(body)).toBeLessThan(60_200);
    expect(body).toContain('| cluster-499 |');
    expect(body).toMatch(/The details of \d+ targets are too long for a comment/);
    expect(body).toContain(`plan \`${DIGEST}\``);
    // No block of code is cut.
    const count = (pattern: RegExp) => body.match(pattern)?.length ?? 0;
    expect(count(/<details>/g)).toBeGreaterThan(0);
    expect([count(/^```$/gm), count(/<\/details>/g)]).toEqual([2 * count(/<details>/g), count(/<details>/g)]);
  });

  it('counts targets that do not fit into the table', () => {
    const targets = Array.from({ length: 3000 }, (_, index) => target(`cluster-${index}`, { units: [] }));
    const { body } = commentOn(planned({ targets }));
    expect(Buffer.byteLength(body)).toBeLessThan(60_200);
    expect(body).toMatch(/^\| and \d+ more \|/m);
  });

  it('has a marker that cannot be guessed, of its own for each Pipeline, host and pull request', () => {
    const input = { uid: 'u1', address: 'host a/b kubenode/fleet/plan', number: 7 };
    const others = [{ uid: 'u2' }, { address: 'other' }, { number: 8 }].map((more) => ({
      ...input,
      ...more,
    }));
    const markers = [input, ...others].map(commentMarker);
    expect(new Set(markers).size).toBe(4);
    expect(commentMarker({ ...input })).toBe(markers[0]);
    expect(markers[0]).toMatch(/^<!-- kubenode plan [0-9a-f]{32} -->$/);
  });
});
