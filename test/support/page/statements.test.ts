import { describe, expect, it } from 'vitest';
import { statementsOf, withoutComment } from './statements.ts';

describe('statementsOf', () => {
  it.each([
    ['one for each line', 'a\n\n  # comment\nb | c\n', ['a', 'b | c']],
    ['a line that goes on', 'a \\\n  b\nc', ['a \\\n  b', 'c']],
    ['a here-document', "cat > f <<'EOF'\na {\nEOF\nb", ["cat > f <<'EOF'\na {\nEOF", 'b']],
    ['a function', 'call() {\n  curl \\\n    x\n}\ncall', ['call() {\n  curl \\\n    x\n}', 'call']],
  ])('finds %s', (_, script, expected) => {
    expect(statementsOf(script)).toEqual(expected);
  });

  it('refuses a script that ends within one', () => {
    expect(() => statementsOf('cat <<EOF\na')).toThrow('does not end');
  });
});

describe('withoutComment', () => {
  it('removes the comment behind a line', () => {
    expect(withoutComment('kubenode sync now      # do not wait; or do')).toBe('kubenode sync now');
  });
});
