package io.github.reactivelock.spring;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.ExpressionState;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.InlineList;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/** The expression of a key. Reading it finds what would be null or fail at every call: names that mean nothing. */
final class KeyExpression {

    private static final Set<String> OF_ROOT = Set.of("target", "method", "args");

    /** Adds two values that are there already, by the rules of SpEL. */
    private static final SpelExpression SUM = new SpelExpressionParser().parseRaw("#root[0] + #root[1]");

    private final SpelExpression expression;
    private final BeanFactory beans;
    private final List<String> parameters = new ArrayList<>();
    private final List<String> variables = new ArrayList<>(List.of("root", "this"));
    private final String hint;

    /** For the first {@code count} parameters of a method. */
    KeyExpression(String text, Method method, int count, BeanFactory beans) {
        this.beans = beans;
        @Nullable String @Nullable [] names = LockKey.PARAMETER_NAMES.getParameterNames(method);
        for (int i = 0; i < count; i++) {
            variables.add("p" + i);
            variables.add("a" + i);
            if (names != null) {
                parameters.add("#" + names[i]);
                variables.add(names[i]);
            }
        }
        hint = names == null
                ? "its class was compiled without -parameters; compile with it, or write #p0 for the first parameter"
                : "write one of its parameters: " + (count == 0 ? "it has none" : String.join(", ", parameters));
        expression = parse(text);
        check(expression.getAST(), true);
    }

    private static SpelExpression parse(String text) {
        try {
            return new SpelExpressionParser().parseRaw(text);
        } catch (ParseException e) {
            throw new IllegalArgumentException(
                    "its key " + text + " is no SpEL expression: " + e.getSimpleMessage()
                            + "; a text needs quotes, as 'text'",
                    e);
        }
    }

    /**
     * The value of a call.
     *
     * @throws KeyText.Unusable if a part of a text is none that tells what is locked
     */
    @Nullable
    Object value(EvaluationContext context) {
        return value(expression.getAST(), context);
    }

    /** Texts are put together here, because SpEL writes a part that is null as "null". */
    private static @Nullable Object value(SpelNode node, EvaluationContext context) {
        if (node instanceof InlineList) {
            List<@Nullable Object> elements = new ArrayList<>();
            for (int i = 0; i < node.getChildCount(); i++) {
                elements.add(value(node.getChild(i), context));
            }
            return elements;
        }
        if (node instanceof OpPlus && node.getChildCount() == 2) {
            @Nullable Object left = value(node.getChild(0), context);
            @Nullable Object right = value(node.getChild(1), context);
            if (left instanceof String || right instanceof String) {
                KeyText.check(left);
                KeyText.check(right);
            }
            return SUM.getValue(context, Arrays.asList(left, right));
        }
        return node.getValue(new ExpressionState(context));
    }

    /** {@return the expression as it was written} */
    @Override
    public String toString() {
        return expression.getExpressionString();
    }

    /** @param ofRoot whether a bare name here is a property of the root, and not of what stands before it */
    private void check(SpelNode node, boolean ofRoot) {
        String text = node.toStringAST();
        if (node instanceof VariableReference && !variables.contains(text.substring(1))) {
            throw new IllegalArgumentException("its key has " + text + ", which is no parameter; " + hint);
        }
        if (node instanceof BeanReference
                && !beans.containsBean(text.substring(1).replace("'", ""))) {
            throw new IllegalArgumentException("its key has " + text + ", and there is no such bean; mend the name");
        }
        if (ofRoot && node instanceof PropertyOrFieldReference && !OF_ROOT.contains(text)) {
            throw new IllegalArgumentException("its key has " + text
                    + ", which is neither a parameter nor a text; write #" + text + " or '" + text + "'");
        }
        boolean ofElement = node instanceof Projection || node instanceof Selection;
        for (int i = 0; i < node.getChildCount(); i++) {
            boolean behindDot = node instanceof CompoundExpression && i > 0;
            check(node.getChild(i), ofRoot && !ofElement && !behindDot);
        }
    }
}
