import { expect, it } from 'vitest';
import { shellCommands } from './shell-lines.ts';

it.each<[name: string, script: string, commands: readonly string[]]>([
  ['one command', 'npm ci', ['npm ci']],
  ['comments', '# first\nnpm ci   # second\necho a#b', ['npm ci', 'echo a#b']],
  ['a comment that is alone behind spaces', 'npm start\n       # on', ['npm start']],
  ['quotes', `git commit -m "The fleet" 'a b' "it's"`, [`git commit -m [The fleet] [a b] it's`]],
  ['a list and a pipeline', 'a 1 && b 2 || c; d | e &\nf', ['a 1', 'b 2', 'c', 'd', 'e', 'f']],
  ['redirections', 'a 2> b.log x >> c < d 2>&1', ['a x']],
  ['a loop', 'for c in test pre; do k sync --context $c 2> $c.log & done', ['k sync --context $c']],
  ['a subshell', '(umask 077; k token n1 > b.json)', ['umask 077', 'k token n1']],
  [
    'substitutions',
    'M=$(ls -d */ | head -1)\nk x $(k get "$(cat f)" -o name)',
    ['ls -d */', 'head -1', 'cat f', 'k get text -o name', 'k x text'],
  ],
  ['assignments', 'A=1 B="c d" k x', ['k x']],
  [
    'a here document',
    "cat > f <<'EOF'\nk none \"\nEOF\nk apply -f - <<EOF | tee\nx\nEOF\nk end",
    ['cat', 'k apply -f -', 'tee', 'k end'],
  ],
  ['a line that continues', 'k a \\\n  b', ['k a b']],
])('reads %s', (_, script, commands) => {
  const shown = shellCommands(script).map((words) =>
    words.map((word) => (/\s/.test(word) ? `[${word}]` : word)).join(' '),
  );
  expect(shown).toEqual(commands);
});
