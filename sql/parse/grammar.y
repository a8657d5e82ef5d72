// The grammar of a statement (DIALECT.md, section 2, and Quire's additions). Lemon makes grammar.c and grammar.h of it
// at build time; grammar.c is compiled as C++. An action is one call of AstBuilder.
//
// The service's operator tower is flat: comparisons and shifts share a level, and so do + - || | ^ &. Each level is a
// nonterminal of its own here (predicate, comparison, sum, product, prefixed, primary); only ?: ?? OR AND
// go by declared precedence. Strict mode uses the same grammar: the builder refuses what the service would not take.

%name QuireGrammar
%token_prefix TOKEN_
%token_type {quire::sql::Token}
%extra_context {quire::sql::AstBuilder* build}
// One level of parentheses takes one place, one of operators up to a dozen.
%stack_size 2048
%stack_overflow { build->nested_too_deeply(); }
%syntax_error { build->unexpected(TOKEN); }

%include {
#include <vector>

#include "sql/parse/ast_builder.h"
#include "sql/parse/parser.h"

using namespace quire::sql;
}

// Tokens that the lexer reads and no rule takes: they end in an error with a hint.
%token RESERVED UNREADABLE DOUBLE_EQUAL DOUBLE_AMPERSAND EXCLAMATION.

%right QUESTION.
%right COALESCE.
%left OR.
%left AND.

%type query {Query*}
%type select_core {Query*}
%type selection {Selection}
%type items {List<SelectItem>}
%type from {List<FromSource>}
%type sources {List<FromSource>}
%type source {FromSource*}
%type collection {FromSource*}
%type steps {List<PathStep>}
%type group_by {List<Expression*>}
%type order_by {Ordering}
%type order_items {List<OrderItem>}
%type page {Page}
%type distinct {bool}
%type negation {bool}
%type analyze {bool}
%type stage {ExplainStage}
%type union {SetOperation}
%type top {Expression*}
%type count {Expression*}
%type where {Expression*}
%type having {Expression*}
%type on {Expression*}
%type expression {Expression*}
%type expressions {List<Expression*>}
%type arguments {List<Expression*>}
%type logical {Expression*}
%type predicate {Expression*}
%type comparison {Expression*}
%type sum {Expression*}
%type product {Expression*}
%type prefixed {Expression*}
%type primary {Expression*}
%type call {Expression*}
%type literal {Expression*}
%type subject {Expression*}
%type otherwise {Expression*}
%type arms {List<CaseArm>}
%type arm {CaseArm}
%type returning {Returning}
%type change_end {ChangeEnd}
%type pre_trigger {Token}
%type post_trigger {Token}
%type target {FromSource*}
%type assignments {List<Assignment>}
%type assignment {Assignment}
%type changes {List<Assignment>}
%type unset {List<Assignment>}
%type unset_paths {List<Assignment>}
%type if_not_exists {bool}
%type unique {bool}
%type or_replace {bool}
%type always {bool}
%type script_kind {Token}
%type index_name {Token}
%type object {Token}
%type on_container {Token}
%type index_keys {List<IndexKey>}
%type index_key {IndexKey}
%type index_path {Expression*}
%type if_exists {bool}
%type partition_key {List<Expression*>}
%type key_paths {List<Expression*>}
%type key_path {Expression*}
%type properties {Expression*}
%type entries {List<ObjectEntry>}
%type comparison_operator {BinaryOperator}
%type sum_operator {BinaryOperator}
%type product_operator {BinaryOperator}
%type prefix_operator {UnaryOperator}

// ---- Statements

%start_symbol statement

statement ::= query(Q) terminator. { build->statement(Q); }
statement ::= EXPLAIN(E) analyze(A) stage(S) query(Q) terminator. { build->explain(E, A, S, Q); }

statement ::= change terminator.
statement ::= EXPLAIN(E) analyze(A) stage(S) change terminator. { build->explain_change(E, A, S); }
change ::= INSERT(K) INTO object(C) VALUES expressions(L) change_end(R). { build->write(K, C, L, nullptr, R); }
change ::= INSERT(K) INTO object(C) query(Q) change_end(R). { build->write(K, C, {nullptr, 0}, Q, R); }
change ::= UPDATE(K) target(T) changes(C) where(W) change_end(R). { build->update(K, T, C, W, R); }
change ::= PATCH(K) target(T) WITH expression(O) where(W) change_end(R). { build->patch(K, T, O, W, R); }
change ::= DELETE(K) FROM target(T) where(W) change_end(R). { build->remove(K, T, W, R); }

statement ::= CREATE(K) CONTAINER if_not_exists(I) object(N) partition_key(P) properties(J) terminator.
  { build->define(StatementKind::create_container, K, N, I, P, J); }
statement ::= ALTER(K) CONTAINER object(N) properties(J) terminator.
  { build->define(StatementKind::alter_container, K, N, false, {nullptr, 0}, J); }
statement ::= DROP(K) CONTAINER if_exists(I) object(N) terminator.
  { build->define(StatementKind::drop_container, K, N, I, {nullptr, 0}, nullptr); }

statement ::= CREATE(K) unique(U) INDEX if_not_exists(I) index_name(N) ON object(C) LEFT_PARENTHESIS index_keys(L)
              RIGHT_PARENTHESIS where(W) terminator. { build->create_index(K, U, I, N, C, L, W); }
statement ::= DROP(K) INDEX if_exists(I) object(N) on_container(C) terminator. { build->drop_index(K, I, N, C); }
unique(R) ::= . { R = false; }
unique(R) ::= UNIQUE. { R = true; }
index_name(R) ::= . { R = kNoToken; }
index_name(R) ::= object(N). { R = N; }
on_container(R) ::= . { R = kNoToken; }
on_container(R) ::= ON object(C). { R = C; }
index_keys(R) ::= index_key(K). { R = build->list_of(K); }
index_keys(R) ::= index_keys(L) COMMA index_key(K). { R = build->append(L, K); }
index_key(R) ::= index_path(P). { R = {P, false}; }
index_key(R) ::= index_path(P) ASC. { R = {P, false}; }
index_key(R) ::= index_path(P) DESC. { R = {P, true}; }
index_path(R) ::= STRING(S). { R = build->key_path(S); }
index_path(R) ::= name(N). { R = build->index_path(nullptr, N, false); }
index_path(R) ::= LEFT_BRACKET STRING(S) RIGHT_BRACKET. { R = build->index_path(nullptr, S, false); }
index_path(R) ::= index_path(P) DOT name(N). { R = build->index_path(P, N, false); }
index_path(R) ::= index_path(P) LEFT_BRACKET STRING(S) RIGHT_BRACKET. { R = build->index_path(P, S, false); }
index_path(R) ::= index_path(P) LEFT_BRACKET(B) RIGHT_BRACKET. { R = build->index_path(P, B, true); }

statement ::= CREATE(K) or_replace(R) script_kind(S) object(N) ON object(C) AS SCRIPT(B) terminator.
  { build->create_script(K, S, R, N, C, B); }
statement ::= CREATE(K) or_replace(R) TRIGGER(S) object(N) name(W) name(O) ON object(C) always(A) AS SCRIPT(B) terminator.
  { build->create_script(K, S, R, N, C, B); build->trigger(W, O, A); }
statement ::= DROP(K) script_kind(S) if_exists(I) object(N) ON object(C) terminator. { build->drop_script(K, S, I, N, C); }
statement ::= DROP(K) TRIGGER(S) if_exists(I) object(N) ON object(C) terminator. { build->drop_script(K, S, I, N, C); }
statement ::= EXECUTE(K) object(N) LEFT_PARENTHESIS arguments(L) RIGHT_PARENTHESIS ON object(C) terminator.
  { build->execute(K, N, L, C, {nullptr, 0}); }
statement ::= EXECUTE(K) object(N) LEFT_PARENTHESIS arguments(L) RIGHT_PARENTHESIS ON object(C)
              IN PARTITION expressions(P) terminator. { build->execute(K, N, L, C, P); }
or_replace(R) ::= . { R = false; }
or_replace(R) ::= OR REPLACING. { R = true; }
always(R) ::= . { R = false; }
always(R) ::= ALWAYS. { R = true; }
script_kind(R) ::= PROCEDURE(T). { R = T; }
script_kind(R) ::= FUNCTION(T). { R = T; }

statement ::= BEGIN(K) transaction terminator. { build->transaction(StatementKind::begin, K); }
statement ::= COMMIT(K) transaction terminator. { build->transaction(StatementKind::commit, K); }
statement ::= ROLLBACK(K) transaction terminator. { build->transaction(StatementKind::rollback, K); }
transaction ::= .
transaction ::= TRANSACTION.
statement ::= PRAGMA(K) name(N) terminator. { build->pragma(K, N, nullptr); }
statement ::= PRAGMA(K) name(N) EQUAL prefixed(V) terminator. { build->pragma(K, N, V); }
statement ::= PRAGMA(K) name(N) EQUAL ON(V) terminator. { build->pragma(K, N, build->identifier(V)); }

statement ::= ADVISE(K) object(C) terminator. { build->upkeep(StatementKind::advise, K, C); }
statement ::= CHECK(K) terminator. { build->upkeep(StatementKind::check, K, kNoToken); }
statement ::= CHECK(K) object(C) terminator. { build->upkeep(StatementKind::check, K, C); }

statement ::= ANALYZE(K) terminator. { build->upkeep(StatementKind::analyze, K, kNoToken); }
statement ::= ANALYZE(K) object(C) terminator. { build->upkeep(StatementKind::analyze, K, C); }

// Names of containers and indexes may be any text, quoted.
object(R) ::= name(N). { R = N; }
object(R) ::= STRING(S). { R = S; }

target(R) ::= object(C). { R = build->path_source(C, {nullptr, 0}); }
target(R) ::= object(C) name(A). { R = build->named(build->path_source(C, {nullptr, 0}), A); }
target(R) ::= object(C) AS name(A). { R = build->named(build->path_source(C, {nullptr, 0}), A); }
changes(R) ::= SET assignments(S) unset(U). { R = build->concatenate(S, U); }
changes(R) ::= UNSET unset_paths(L). { R = L; }
assignments(R) ::= assignment(A). { R = build->list_of(A); }
assignments(R) ::= assignments(L) COMMA assignment(A). { R = build->append(L, A); }
assignment(R) ::= primary(P) EQUAL expression(E). { R = {P, E}; }
unset(R) ::= . { R = {nullptr, 0}; }
unset(R) ::= UNSET unset_paths(L). { R = L; }
unset_paths(R) ::= primary(P). { R = build->list_of(Assignment{P, nullptr}); }
unset_paths(R) ::= unset_paths(L) COMMA primary(P). { R = build->append(L, Assignment{P, nullptr}); }
change_end(R) ::= pre_trigger(B) post_trigger(A) returning(S). { R = {B, A, S}; }
pre_trigger(R) ::= . { R = kNoToken; }
pre_trigger(R) ::= PRE TRIGGER object(N). { R = N; }
post_trigger(R) ::= . { R = kNoToken; }
post_trigger(R) ::= POST TRIGGER object(N). { R = N; }
returning(R) ::= . { R = {false, {SelectKind::star, {nullptr, 0}}}; }
returning(R) ::= RETURNING selection(S). { R = {true, S}; }

if_not_exists(R) ::= . { R = false; }
if_not_exists(R) ::= IF NOT EXISTS. { R = true; }
if_exists(R) ::= . { R = false; }
if_exists(R) ::= IF EXISTS. { R = true; }
partition_key(R) ::= . { R = {nullptr, 0}; }
partition_key(R) ::= PARTITION KEY LEFT_PARENTHESIS key_paths(L) RIGHT_PARENTHESIS. { R = L; }
key_paths(R) ::= key_path(P). { R = build->list_of(P); }
key_paths(R) ::= key_paths(L) COMMA key_path(P). { R = build->append(L, P); }
key_path(R) ::= STRING(S). { R = build->key_path(S); }
key_path(R) ::= SLASH name(N). { R = build->longer_key_path(nullptr, N); }
key_path(R) ::= key_path(P) SLASH name(N). { R = build->longer_key_path(P, N); }
properties(R) ::= . { R = nullptr; }
properties(R) ::= WITH expression(E). { R = E; }

terminator ::= .
terminator ::= SEMICOLON(T). { build->extension(T, "';' at the end of a query"); }

analyze(R) ::= . { R = false; }
analyze(R) ::= ANALYZE. { R = true; }
stage(R) ::= . { R = ExplainStage::physical; }
stage(R) ::= LEFT_PARENTHESIS JSON RIGHT_PARENTHESIS. { R = ExplainStage::json; }
stage(R) ::= LEFT_PARENTHESIS AST RIGHT_PARENTHESIS. { R = ExplainStage::ast; }
stage(R) ::= LEFT_PARENTHESIS LOGICAL RIGHT_PARENTHESIS. { R = ExplainStage::logical; }
stage(R) ::= LEFT_PARENTHESIS PHYSICAL RIGHT_PARENTHESIS. { R = ExplainStage::physical; }

// ---- Queries. ORDER BY, OFFSET and LIMIT after a union stand in its last query; the binder takes them for the whole.

query(R) ::= select_core(Q) order_by(O) page(P). { R = build->finish(Q, O, P); }
query(R) ::= select_core(Q) UNION(K) union(U) query(N). { R = build->unite(Q, K, U, N); }

union(R) ::= . { R = SetOperation::union_distinct; }
union(R) ::= ALL. { R = SetOperation::union_all; }

select_core(R) ::= SELECT(S) distinct(D) top(T) selection(L) from(F) where(W) group_by(G) having(H).
  { R = build->query({S, D, T, L, F, W, G, H}); }

distinct(R) ::= . { R = false; }
distinct(R) ::= DISTINCT. { R = true; }

top(R) ::= . { R = nullptr; }
top(R) ::= TOP count(C). { R = C; }
// The service takes the text and refuses the fraction (SC2060); so does the binder.
top(R) ::= TOP REAL(T). { R = build->count(T); }
count(R) ::= INTEGER(T). { R = build->count(T); }
count(R) ::= PARAMETER(T). { R = build->count(T); }

selection(R) ::= STAR. { R = {SelectKind::star, {nullptr, 0}}; }
selection(R) ::= VALUE expression(E). { R = {SelectKind::value, build->list_of(build->item(E, kNoToken))}; }
selection(R) ::= items(I). { R = {SelectKind::list, I}; }
items(R) ::= expression(E) item_alias(A). { R = build->list_of(build->item(E, A)); }
items(R) ::= items(L) COMMA expression(E) item_alias(A). { R = build->append(L, build->item(E, A)); }
item_alias(R) ::= . { R = kNoToken; }
item_alias(R) ::= alias(A). { R = A; }
item_alias(R) ::= AS alias(A). { R = A; }
alias(R) ::= name(N). { R = N; }
alias(R) ::= STRING(S). { R = S; }
name(R) ::= NAME(N). { R = N; }
name(R) ::= SPECIAL_NUMBER(N). { R = N; }

from(R) ::= . { R = {nullptr, 0}; }
from(R) ::= FROM sources(S). { R = S; }
sources(R) ::= source(S). { R = build->list_of(*S); }
sources(R) ::= sources(L) JOIN(K) source(S). { R = build->join(L, JoinKind::lateral, K, S, nullptr); }
sources(R) ::= sources(L) JOIN(K) source(S) on(E). { R = build->join(L, JoinKind::inner_on, K, S, E); }
sources(R) ::= sources(L) INNER(K) JOIN source(S) on(E). { R = build->join(L, JoinKind::inner_on, K, S, E); }
sources(R) ::= sources(L) LEFT(K) outer JOIN source(S) on(E). { R = build->join(L, JoinKind::left_on, K, S, E); }
outer ::= .
outer ::= OUTER.
on(R) ::= ON expression(E). { R = E; }

source(R) ::= collection(C). { R = C; }
source(R) ::= collection(C) name(A). { R = build->named(C, A); }
source(R) ::= collection(C) AS name(A). { R = build->named(C, A); }
source(R) ::= name(A) IN collection(C). { R = build->iterated(A, C); }
source(R) ::= name(A) IN(K) call(C). { R = build->iterated(A, build->call_source(K, C)); }
collection(R) ::= name(N) steps(S). { R = build->path_source(N, S); }
collection(R) ::= STRING(N) steps(S). { build->extension(N, "a container's name in quotes"); R = build->path_source(N, S); }
collection(R) ::= LEFT_PARENTHESIS(P) query(Q) RIGHT_PARENTHESIS. { R = build->query_source(P, Q); }
steps(R) ::= . { R = {nullptr, 0}; }
steps(R) ::= steps(L) DOT name(N). { R = build->append(L, build->name_step(N)); }
steps(R) ::= steps(L) LEFT_BRACKET STRING(S) RIGHT_BRACKET. { R = build->append(L, build->string_step(S)); }
steps(R) ::= steps(L) LEFT_BRACKET INTEGER(I) RIGHT_BRACKET. { R = build->append(L, build->index_step(I)); }

where(R) ::= . { R = nullptr; }
where(R) ::= WHERE expression(E). { R = E; }
group_by(R) ::= . { R = {nullptr, 0}; }
group_by(R) ::= GROUP BY expressions(L). { R = L; }
having(R) ::= . { R = nullptr; }
having(R) ::= HAVING(K) expression(E). { build->extension(K, "HAVING"); R = E; }

order_by(R) ::= . { R = {{nullptr, 0}, false}; }
order_by(R) ::= ORDER BY order_items(L). { R = {L, false}; }
order_by(R) ::= ORDER BY RANK call(C) direction(D). { R = {build->list_of(build->order(C, D)), true}; }
order_items(R) ::= expression(E) direction(D). { R = build->list_of(build->order(E, D)); }
order_items(R) ::= order_items(L) COMMA expression(E) direction(D). { R = build->append(L, build->order(E, D)); }
direction(R) ::= . { R = kNoToken; }
direction(R) ::= ASC(D). { R = D; }
direction(R) ::= DESC(D). { R = D; }

page(R) ::= . { R = {nullptr, nullptr}; }
page(R) ::= OFFSET count(O) LIMIT count(L). { R = {O, L}; }

// ---- Expressions, loosest first

expressions(R) ::= expression(E). { R = build->list_of(E); }
expressions(R) ::= expressions(L) COMMA expression(E). { R = build->append(L, E); }

expression(R) ::= logical(E). { R = E; }
expression(R) ::= expression(C) QUESTION expression(T) COLON expression(E). [QUESTION]
  { R = build->conditional(C, T, E); }
expression(R) ::= expression(A) COALESCE expression(B). { R = build->coalesce(A, B); }

logical(R) ::= predicate(E). { R = E; }
logical(R) ::= logical(A) AND logical(B). { R = build->logical(ExpressionKind::logical_and, A, B); }
logical(R) ::= logical(A) OR logical(B). { R = build->logical(ExpressionKind::logical_or, A, B); }

negation(R) ::= . { R = false; }
negation(R) ::= NOT. { R = true; }

predicate(R) ::= comparison(E). { R = E; }
predicate(R) ::= comparison(E) negation(N) BETWEEN comparison(L) AND comparison(H).
  { R = build->between(E, N, L, H); }
predicate(R) ::= comparison(E) negation(N) IN LEFT_PARENTHESIS expressions(L) RIGHT_PARENTHESIS.
  { R = build->in(E, N, L); }
predicate(R) ::= comparison(E) negation(N) IN(K) LEFT_PARENTHESIS query(Q) RIGHT_PARENTHESIS.
  { R = build->in_query(E, N, K, Q); }
predicate(R) ::= comparison(E) negation(N) LIKE comparison(P) escape(S). { R = build->like(E, N, P, S); }
predicate(R) ::= comparison(E) IS(K) negation(N) NULL. { R = build->is_null(E, K, N); }
predicate(R) ::= LET(K) NAME(V) EQUAL comparison(E) IN comparison(B). { R = build->let(K, V, E, B); }
escape(R) ::= . { R = kNoToken; }
escape(R) ::= ESCAPE STRING(S). { R = S; }

comparison(R) ::= sum(E). { R = E; }
comparison(R) ::= comparison(A) comparison_operator(O) sum(B). { R = build->binary(A, O, B); }
comparison_operator(R) ::= EQUAL. { R = BinaryOperator::equal; }
comparison_operator(R) ::= NOT_EQUAL. { R = BinaryOperator::not_equal; }
comparison_operator(R) ::= LESS. { R = BinaryOperator::less; }
comparison_operator(R) ::= GREATER. { R = BinaryOperator::greater; }
comparison_operator(R) ::= LESS_EQUAL. { R = BinaryOperator::less_equal; }
comparison_operator(R) ::= GREATER_EQUAL. { R = BinaryOperator::greater_equal; }
comparison_operator(R) ::= SHIFT_LEFT. { R = BinaryOperator::shift_left; }
comparison_operator(R) ::= SHIFT_RIGHT. { R = BinaryOperator::shift_right; }
comparison_operator(R) ::= SHIFT_RIGHT_UNSIGNED. { R = BinaryOperator::shift_right_unsigned; }

sum(R) ::= product(E). { R = E; }
sum(R) ::= sum(A) sum_operator(O) product(B). { R = build->binary(A, O, B); }
sum_operator(R) ::= BIT_OR. { R = BinaryOperator::bit_or; }
sum_operator(R) ::= BIT_XOR. { R = BinaryOperator::bit_xor; }
sum_operator(R) ::= BIT_AND. { R = BinaryOperator::bit_and; }
sum_operator(R) ::= PLUS. { R = BinaryOperator::add; }
sum_operator(R) ::= MINUS. { R = BinaryOperator::subtract; }
sum_operator(R) ::= CONCATENATE. { R = BinaryOperator::concatenate; }

product(R) ::= prefixed(E). { R = E; }
product(R) ::= product(A) product_operator(O) prefixed(B). { R = build->binary(A, O, B); }
product_operator(R) ::= STAR. { R = BinaryOperator::multiply; }
product_operator(R) ::= SLASH. { R = BinaryOperator::divide; }
product_operator(R) ::= PERCENT. { R = BinaryOperator::modulo; }

prefixed(R) ::= primary(E). { R = E; }
prefixed(R) ::= MINUS(T) prefixed(E). { R = build->unary(T, UnaryOperator::minus, E); }
prefixed(R) ::= PLUS(T) prefixed(E). { R = build->unary(T, UnaryOperator::plus, E); }
prefixed(R) ::= BIT_NOT(T) prefixed(E). { R = build->unary(T, UnaryOperator::bit_not, E); }
prefixed(R) ::= NOT(T) prefixed(E). { R = build->unary(T, UnaryOperator::logical_not, E); }

primary(R) ::= literal(E). { R = E; }
primary(R) ::= call(E). { R = E; }
primary(R) ::= PARAMETER(T). { R = build->parameter(T); }
primary(R) ::= NAME(T). { R = build->identifier(T); }
primary(R) ::= primary(E) DOT name(N). { R = build->member(E, N); }
primary(R) ::= primary(E) LEFT_BRACKET expression(I) RIGHT_BRACKET. { R = build->index(E, I); }
primary(R) ::= LEFT_PARENTHESIS(P) expression(E) RIGHT_PARENTHESIS. { R = build->parenthesised(P, E); }
primary(R) ::= LEFT_PARENTHESIS(P) query(Q) RIGHT_PARENTHESIS.
  { R = build->subquery(ExpressionKind::scalar_query, P, Q); }
primary(R) ::= EXISTS(T) LEFT_PARENTHESIS query(Q) RIGHT_PARENTHESIS.
  { R = build->subquery(ExpressionKind::exists, T, Q); }
primary(R) ::= ARRAY(T) LEFT_PARENTHESIS query(Q) RIGHT_PARENTHESIS.
  { R = build->subquery(ExpressionKind::array_query, T, Q); }
primary(R) ::= ALL(T) LEFT_PARENTHESIS query(Q) RIGHT_PARENTHESIS.
  { R = build->subquery(ExpressionKind::all_query, T, Q); }
primary(R) ::= FIRST(T) LEFT_PARENTHESIS query(Q) RIGHT_PARENTHESIS.
  { R = build->subquery(ExpressionKind::first_query, T, Q); }
primary(R) ::= LAST(T) LEFT_PARENTHESIS query(Q) RIGHT_PARENTHESIS.
  { R = build->subquery(ExpressionKind::last_query, T, Q); }
primary(R) ::= LEFT_BRACKET(T) RIGHT_BRACKET. { R = build->array(T, {nullptr, 0}); }
primary(R) ::= LEFT_BRACKET(T) expressions(L) RIGHT_BRACKET. { R = build->array(T, L); }
primary(R) ::= LEFT_BRACE(T) RIGHT_BRACE. { R = build->object(T, {nullptr, 0}); }
primary(R) ::= LEFT_BRACE(T) entries(L) RIGHT_BRACE. { R = build->object(T, L); }
primary(R) ::= CASE(T) subject(S) arms(L) otherwise(E) END. { R = build->case_when(T, S, L, E); }

entries(R) ::= alias(K) COLON expression(E). { R = build->list_of(build->entry(K, E)); }
entries(R) ::= entries(L) COMMA alias(K) COLON expression(E). { R = build->append(L, build->entry(K, E)); }

subject(R) ::= . { R = nullptr; }
subject(R) ::= expression(E). { R = E; }
arms(R) ::= arm(A). { R = build->list_of(A); }
arms(R) ::= arms(L) arm(A). { R = build->append(L, A); }
arm(R) ::= WHEN expression(W) THEN expression(T). { R = build->arm(W, T); }
otherwise(R) ::= . { R = nullptr; }
otherwise(R) ::= ELSE expression(E). { R = E; }

call(R) ::= NAME(F) LEFT_PARENTHESIS arguments(L) RIGHT_PARENTHESIS. { R = build->call(F, L); }
call(R) ::= UDF(U) DOT name(F) LEFT_PARENTHESIS arguments(L) RIGHT_PARENTHESIS. { R = build->call_udf(U, F, L); }
call(R) ::= NAME(F) LEFT_PARENTHESIS DISTINCT(D) expressions(L) RIGHT_PARENTHESIS.
  { R = build->call_distinct(F, D, L); }
call(R) ::= NAME(F) LEFT_PARENTHESIS STAR(S) RIGHT_PARENTHESIS. { R = build->call_star(F, S); }
arguments(R) ::= . { R = {nullptr, 0}; }
arguments(R) ::= expressions(L). { R = L; }

literal(R) ::= TRUE(T). { R = build->literal(T); }
literal(R) ::= FALSE(T). { R = build->literal(T); }
literal(R) ::= NULL(T). { R = build->literal(T); }
literal(R) ::= UNDEFINED(T). { R = build->literal(T); }
literal(R) ::= INTEGER(T). { R = build->literal(T); }
literal(R) ::= REAL(T). { R = build->literal(T); }
literal(R) ::= SPECIAL_NUMBER(T). { R = build->literal(T); }
literal(R) ::= STRING(T). { R = build->literal(T); }

%code {

// Whether the parser, as it stands, would take `token` next: its moves are made on a copy of its stack of states.
static bool would_take(const yyParser& parser, YYCODETYPE token) {
  std::vector<YYACTIONTYPE> states;
  for (const yyStackEntry* entry = parser.yystack; entry <= parser.yytos; ++entry) states.push_back(entry->stateno);
  for (;;) {
    const YYACTIONTYPE action = yy_find_shift_action(token, states.back());
    if (action < YY_MIN_REDUCE) return action <= YY_MAX_SHIFTREDUCE || action == YY_ACCEPT_ACTION;
    const auto rule = action - YY_MIN_REDUCE;
    states.resize(states.size() + yyRuleInfoNRhs[rule]);
    states.push_back(yy_find_reduce_action(states.back(), yyRuleInfoLhs[rule]));
  }
}

static void feed(yyParser& parser, std::span<const Token> tokens, AstBuilder& builder) {
  QuireGrammarInit(&parser, &builder);
  for (const Token& token : tokens) {
    builder.before_token(token);
    QuireGrammar(&parser, token.kind, token);
    if (builder.has_failed()) break;
  }
}

namespace quire::sql {

void run_grammar(std::span<const Token> tokens, AstBuilder& builder) {
  const auto parser = std::make_unique_for_overwrite<yyParser>();
  feed(*parser, tokens, builder);
  QuireGrammarFinalize(parser.get());
}

std::vector<bool> tokens_taken_after(std::span<const Token> tokens, AstBuilder& builder) {
  const auto parser = std::make_unique_for_overwrite<yyParser>();
  feed(*parser, tokens, builder);
  std::vector<bool> taken(YYNTOKEN);
  for (YYCODETYPE token = 0; token < YYNTOKEN; ++token) taken[token] = would_take(*parser, token);
  QuireGrammarFinalize(parser.get());
  return taken;
}

}  // namespace quire::sql
}
