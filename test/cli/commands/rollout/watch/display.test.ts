import { describe, expect, it } from 'vitest';
import { viewRollout } from '../../../../../src/cli/commands/rollout/view/view.ts';
import { createDisplay, frameLines } from '../../../../../src/cli/commands/rollout/watch/display.ts';
import { printableStream } from '../../../../../src/kube/objects/printable.ts';
import { NOW } from '../../../../support/builders.ts';
import { testIo } from '../../../../support/test-io.ts';
import { STORIES, type Story } from '../stories.ts';

const view = (story: Story) => viewRollout(STORIES[story], []);

describe('frameLines', () => {
  it.each(Object.keys(STORIES) as Story[])(
    'never has more or longer lines than the terminal: %s',
    (story) => {
      for (const [columns, rows] of [
        [80, 24],
        [40, 8],
        [20, 3],
      ] as const) {
        const lines = frameLines(view(story), 'the last state that was read', NOW, { columns, rows });
        expect(lines.length).toBeLessThan(rows);
        expect(lines.filter((line) => line.length > columns)).toEqual([]);
      }
    },
  );
});

describe('createDisplay', () => {
  it('goes back over exactly the lines of the frame before', () => {
    const io = testIo({ screen: { columns: 80, rows: 24 } });
    const display = createDisplay(io, 'table');
    display.show(view('a batch in work'), undefined);
    const first = io.stdout.split('\n').length - 1;
    display.show(view('its end'), undefined);
    expect(io.stdout).toContain(`\r\u001B[${first}A\u001B[Jgeneral-nodes   Completed`);
    expect(printableStream(io.stdout)).toBe(io.stdout);
  });

  it('writes plain lines where stdout is not a terminal, and a connection that failed once', () => {
    const io = testIo();
    const display = createDisplay(io, 'table');
    for (const stale of [undefined, 'read failed', 'read failed']) {
      display.show(view('a batch in work'), stale);
    }
    expect(io.stdout.split('\n')).toHaveLength(3);
    expect(io.stderr).toBe('general-nodes: read failed\n');
    expect(io.stdout).not.toContain('\u001B');
  });

  it('writes a JSON object for each change, on one line, and none without', () => {
    const io = testIo({ screen: { columns: 80, rows: 24 } });
    const display = createDisplay(io, 'json');
    for (const story of ['a soak', 'a soak', 'its end'] as const) display.show(view(story), undefined);
    const objects = io.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { phase: string });
    expect(objects.map(({ phase }) => phase)).toEqual(['Soaking', 'Completed']);
  });
});
