// Our own lint rules, as a plugin of oxlint (.oxlintrc.json). test/lint tests them.

const LEVELS = new Set(['debug', 'info', 'warn', 'error']);

/** `new Date()` reads the wall clock: take the time as an argument, or from the Clock port. */
const noAmbientTime = {
  create: (context) => ({
    NewExpression(node) {
      if (node.callee.type !== 'Identifier' || node.callee.name !== 'Date' || node.arguments.length > 0)
        return;
      context.report({
        node,
        message: 'new Date() reads the wall clock: take `now` or a Clock as an argument',
      });
    },
  }),
};

/** Each kind of event has one message: variable parts go into the fields, where they can be searched and counted. */
const constantLogMessage = {
  create: (context) => ({
    CallExpression({ callee, arguments: [message] }) {
      if (callee.type !== 'MemberExpression' || !LEVELS.has(callee.property.name)) return;
      if (!/log(ger)?$/i.test(lastWord(callee.object)) || isConstant(message)) return;
      context.report({
        node: message ?? callee,
        message: 'a log message is a constant string: put what varies into the fields',
      });
    },
  }),
};

/** Of `log`, `this.log`, `ports.log`, `log.with({…})`. */
function lastWord(node) {
  if (node.type === 'Identifier') return node.name;
  if (node.type === 'MemberExpression') return node.property.name ?? '';
  return node.type === 'CallExpression' && node.callee.type === 'MemberExpression'
    ? lastWord(node.callee.object)
    : '';
}

/** A choice between constants is two events in one line of code: each stays searchable. */
function isConstant(node) {
  if (node?.type === 'ConditionalExpression')
    return isConstant(node.consequent) && isConstant(node.alternate);
  if (node?.type === 'TemplateLiteral') return node.expressions.length === 0;
  return node?.type === 'Literal' && typeof node.value === 'string';
}

export default {
  meta: { name: 'kubenode' },
  rules: { 'no-ambient-time': noAmbientTime, 'constant-log-message': constantLogMessage },
};
