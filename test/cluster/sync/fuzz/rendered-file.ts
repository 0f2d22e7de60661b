/** The one file of a commit: what the program of a fleet would render to, as lines of JSON. */
import type { Content } from '../../../sync/fuzz/content.ts';

export const RENDERED_FILE = 'rendered.jsonl';

/** As if the program had ended half-way. */
export const UNRENDERABLE = '{"warning": "half a render"}\n';

export function formatRendered(target: string, content: Content): string {
  const lines = Object.entries(content).flatMap(([unit, objects]) =>
    objects.map((object) => ({ object, target, unit, file: `fleet/${unit}.ts:1` })),
  );
  return [...lines, { end: lines.length }].map((line) => `${JSON.stringify(line)}\n`).join('');
}
